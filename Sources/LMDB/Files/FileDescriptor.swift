import CLMDB

/// An open file, closed when it goes out of scope and never inherited by another program.
struct FileDescriptor: ~Copyable {
  let number: Int32

  init(opening path: String, _ flags: Int32) throws(LMDBError) {
    number = try checkErrno { unsafe clmdb_open(path, flags | O_CLOEXEC, 0o600) }
  }

  deinit { close(number) }

  var status: stat? {
    var status = stat()
    return unsafe fstat(number, &status) == 0 ? status : nil
  }

  var size: Int { status.map { Int($0.st_size) } ?? 0 }

  /// Up to `count` bytes; fewer at the end of the file or if they cannot be read.
  func read(at offset: Int, count: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      guard let base = buffer.baseAddress else { return }
      initialized = max(unsafe pread(number, base, count, off_t(offset)), 0)
    }
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(LMDBError) {
    let written = unsafe bytes.withUnsafeBytes {
      unsafe pwrite(number, $0.baseAddress, $0.count, off_t(offset))
    }
    guard written == bytes.count else { throw LMDBError(code: written < 0 ? clmdb_errno() : EIO) }
  }

  /// What is there of `count` bytes at `offset`; unlike ``read(at:count:)`` it tells an error from the end.
  func contents(at offset: Int, count: Int) throws(LMDBError) -> [UInt8] {
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

  /// Puts the file's bytes on the disk.
  func sync() throws(LMDBError) {
    let number = number
    try checkErrno { clmdb_sync(number) }
  }
}
