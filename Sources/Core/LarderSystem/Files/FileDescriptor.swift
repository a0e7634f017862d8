package import CLarderSystem

/// An open file. The file is closed when the value goes out of scope. No program that this process starts inherits the file.
package struct FileDescriptor: ~Copyable, Sendable {
  package let number: Int32

  package init(opening path: String, _ flags: Int32) throws(SystemError) {
    number = try checkErrno { unsafe larder_open(path, flags | O_CLOEXEC, 0o600) }
  }

  /// Opens the file at `path` for reading; nil if the opening fails. For a pipe, does not wait until a process writes to it.
  package static func reading(_ path: String) -> FileDescriptor? {
    try? FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
  }

  deinit { close(number) }

  /// Returns the number of the descriptor. The caller must close the descriptor.
  package consuming func release() -> Int32 {
    let number = number
    discard self
    return number
  }

  package var status: stat? { FileStatus.of(number) }

  package func size() throws(SystemError) -> Int {
    guard let status else { throw .last }
    return Int(status.st_size)
  }

  /// Reads up to `count` bytes; the result is shorter only at the end of the file.
  package func contents(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let read = try checkErrno {
        unsafe bytes.withUnsafeMutableBytes {
          unsafe pread(number, $0.baseAddress! + filled, count - filled, off_t(offset + filled))
        }
      }
      if read == 0 { break }
      filled += read
    }
    bytes.removeLast(count - filled)
    return bytes
  }

  package func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
    try Self.write(bytes, at: offset, to: number)
  }

  package static func write(
    _ bytes: [UInt8], at offset: Int, to number: Int32
  ) throws(SystemError) {
    let written = try checkErrno {
      unsafe bytes.withUnsafeBytes {
        unsafe pwrite(number, $0.baseAddress, $0.count, off_t(offset))
      }
    }
    if written != bytes.count { throw .inputOutput }
  }

  /// Allocates disk blocks for the file up to `length`. On a full disk, a write to a map without such blocks raises SIGBUS.
  package func allocate(_ length: Int) throws(SystemError) {
    try check(larder_allocate(number, off_t(length)))
  }

  package func truncate(_ length: Int) throws(SystemError) {
    try checkErrno { ftruncate(number, off_t(length)) }
  }

  package func sync() throws(SystemError) { try checkErrno { larder_sync(number) } }
}

/// Opens `/dev/null` for each standard descriptor that the parent process has closed. Otherwise a file of the store could get
/// the descriptor's number, and a message to standard error would overwrite the file. Reading standard input and writing to
/// standard output still fail, as before this call. Programs call this function first; opening a store calls it again.
package func claimStandardDescriptors() throws(SystemError) {
  for number in Int32(0)...2 where larder_is_open(number) == 0 {
    // The system gives the lowest free number, which is `number`, because the loop has filled all lower numbers.
    let mode = [O_WRONLY, O_RDONLY, O_RDWR][Int(number)]
    let opened = try checkErrno { unsafe larder_open("/dev/null", mode, 0) }
    if opened > 2 { close(opened) }
  }
}
