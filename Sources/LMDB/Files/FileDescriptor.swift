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

  /// What is there of `count` bytes at `offset`.
  func read(at offset: Int, count: Int) throws(LMDBError) -> [UInt8] {
    let number = number
    var failed: LMDBError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      do throws(LMDBError) {
        initialized = try checkErrno {
          unsafe pread(number, buffer.baseAddress, count, off_t(offset))
        }
      } catch {
        failed = error
      }
    }
    if let failed { throw failed }
    return bytes
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(LMDBError) {
    let number = number
    let written = try checkErrno { unsafe pwrite(number, bytes, bytes.count, off_t(offset)) }
    if written != bytes.count { throw .diskFull }
  }

  /// Puts the file's bytes on the disk.
  func sync() throws(LMDBError) {
    let number = number
    try checkErrno { clmdb_sync(number) }
  }
}
