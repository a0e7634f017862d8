#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Terminal {
  /// The reason why a wait for input ended.
  enum Wakening: Equatable {
    /// Bytes, or the end of them, can be read without waiting.
    case ready
    /// A signal came in; `TerminalSignals.counts` tells which.
    case signalled
    case timedOut
  }

  /// Waits until the stream can be read, a signal comes in, or the time is over (never, if nil).
  static func wait(
    for stream: Stream, atMost limit: Duration? = nil
  ) throws(TerminalError) -> Wakening {
    try wait(for: stream.rawValue, atMost: limit)
  }

  static func wait(
    for descriptor: Int32, atMost limit: Duration? = nil
  ) throws(TerminalError) -> Wakening {
    let bell = TerminalSignals.bell
    var polled = [
      pollfd(fd: bell ?? -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
    ]
    let milliseconds = limit.map { Int32(min($0 / .milliseconds(1), 1e9).rounded(.up)) } ?? -1
    let count = unsafe poll(&polled, nfds_t(polled.count), milliseconds)
    guard count >= 0 else {
      if errno == EINTR { return .signalled }
      throw .failed(operation: "poll", code: errno)
    }
    if polled[0].revents != 0 {
      TerminalSignals.silence()
      return .signalled
    }
    return count == 0 ? .timedOut : .ready
  }

  /// The next bytes of the stream, at most `limit`, waiting for the first; empty at the end.
  package static func read(
    _ stream: Stream = .input, atMost limit: Int = 65_536
  ) throws(TerminalError) -> [UInt8] {
    try read(stream.rawValue, atMost: limit)
  }

  static func read(_ descriptor: Int32, atMost limit: Int) throws(TerminalError) -> [UInt8] {
    var code: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      var got = -1
      repeat {
        got = unsafe Self.readBytes(descriptor, buffer.baseAddress, limit)
      } while got < 0 && errno == EINTR
      if got < 0 { code = errno }
      count = max(got, 0)
    }
    // A terminal whose window was closed answers EIO: nothing more will come.
    guard code == 0 || code == EIO else { throw .failed(operation: "read", code: code) }
    return bytes
  }

  @unsafe private static func readBytes(
    _ descriptor: Int32, _ start: UnsafeMutablePointer<UInt8>?, _ limit: Int
  ) -> Int {
    #if canImport(Glibc)
      unsafe Glibc.read(descriptor, start, limit)
    #else
      unsafe Darwin.read(descriptor, start, limit)
    #endif
  }
}
