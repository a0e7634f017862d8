#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file that is read or written a piece at a time: one on a disk, a pipe with a name, or a device.
///
/// A file on a disk that is written takes its place when it is whole, so that what was there is not lost to a write
/// that fails halfway; pipes, devices and links are written in place.
package final class ByteFile {
  private var descriptor: Int32 = -1
  private let path: String
  /// Where the bytes go until they are whole.
  private var unfinished: String?

  /// Opens a file to read. A pipe need not have a writer yet.
  package init(reading path: String) throws(TerminalError) {
    self.path = path
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .failed(operation: "open", code: errno) }
  }

  /// Makes a file to write.
  ///
  /// - Parameter replaces: A file that is there gives way, once the new one is whole.
  package init(writing path: String, replaces: Bool) throws(TerminalError) {
    self.path = path
    var status = stat()
    let isThere = unsafe lstat(path, &status) == 0
    let isPlain = isThere && status.st_mode & S_IFMT == S_IFREG
    if isPlain, !replaces { throw .failed(operation: "open", code: EEXIST) }
    guard isThere, !isPlain else {
      let name = path + ".\(getpid()).part"
      descriptor = unsafe open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      guard descriptor >= 0 else { throw .failed(operation: "open", code: errno) }
      if isPlain { _ = fchmod(descriptor, status.st_mode & 0o777) }
      unfinished = name
      return
    }
    try openInPlace()
  }

  /// A pipe without a reader is waited for.
  private func openInPlace() throws(TerminalError) {
    while true {
      descriptor = unsafe open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NONBLOCK)
      if descriptor >= 0 { break }
      guard errno == ENXIO else { throw .failed(operation: "open", code: errno) }
      guard !Interrupts.isPending else { throw .failed(operation: "open", code: EINTR) }
      usleep(20_000)
    }
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
  }

  /// The next bytes, waiting for them; empty at the end, nil if ^C came first.
  package func read(atMost limit: Int = 65_536) throws(TerminalError) -> [UInt8]? {
    repeat {
      if Interrupts.isPending { return nil }
    } while try Terminal.wait(for: descriptor) != .ready
    return try Terminal.read(descriptor, atMost: limit)
  }

  package func write(_ bytes: Span<UInt8>) throws(TerminalError) {
    try Terminal.write(bytes, to: descriptor)
  }

  /// Puts what was written in its place.
  package func finish() throws(TerminalError) {
    guard let unfinished else { return close() }
    guard fsync(descriptor) == 0, unsafe rename(unfinished, path) == 0 else {
      throw .failed(operation: "write", code: errno)
    }
    self.unfinished = nil
    close()
  }

  private func close() {
    guard descriptor >= 0 else { return }
    #if canImport(Glibc)
      _ = Glibc.close(descriptor)
    #else
      _ = Darwin.close(descriptor)
    #endif
    descriptor = -1
  }

  /// What was not finished leaves nothing behind.
  deinit {
    if let unfinished { _ = unsafe unlink(unfinished) }
    close()
  }
}
