#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Terminal {
  /// Writes all the bytes, now and unbuffered, however long the other end takes.
  ///
  /// Throws `.closed` if the reader is gone, provided that `Interrupts.install()` was called.
  package static func write(
    _ bytes: Span<UInt8>, to stream: Stream = .output
  ) throws(TerminalError) {
    try write(bytes, to: stream.rawValue)
  }

  /// Writes the text as UTF-8.
  package static func write(_ text: String, to stream: Stream = .output) throws(TerminalError) {
    try write(Array(text.utf8).span, to: stream)
  }

  static func write(_ bytes: Span<UInt8>, to descriptor: Int32) throws(TerminalError) {
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.extracting(written...).withUnsafeBufferPointer {
        unsafe writeBytes(descriptor, $0)
      }
      if count >= 0 {
        written += count
      } else {
        try recover(descriptor, from: errno)
      }
    }
  }

  private static func recover(_ descriptor: Int32, from code: Int32) throws(TerminalError) {
    switch code {
    case EINTR: return
    case EAGAIN:
      // Another process made the shared descriptor non-blocking.
      var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      guard unsafe poll(&polled, 1, -1) >= 0 || errno == EINTR else {
        throw .failed(operation: "poll", code: errno)
      }
    case EPIPE: throw .closed
    default: throw .failed(operation: "write", code: code)
    }
  }

  @unsafe private static func writeBytes(
    _ descriptor: Int32, _ bytes: UnsafeBufferPointer<UInt8>
  ) -> Int {
    #if canImport(Glibc)
      unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    #else
      unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
    #endif
  }
}
