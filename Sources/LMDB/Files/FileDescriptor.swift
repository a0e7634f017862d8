import CLMDB

/// An open file, closed when it goes out of scope and never inherited by another program.
struct FileDescriptor: ~Copyable {
  let number: Int32

  init(opening path: String, _ flags: Int32) throws(LMDBError) {
    number = try checkErrno { unsafe clmdb_open(path, flags | O_CLOEXEC, 0o600) }
  }

  deinit { close(number) }

  var size: Int {
    var status = stat()
    return unsafe fstat(number, &status) == 0 ? Int(status.st_size) : 0
  }
}
