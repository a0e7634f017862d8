#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Terminal {
  enum WaitResult: Equatable {
    /// Bytes can be read without a wait, or the stream has ended.
    case ready
    /// A signal came. `TerminalSignals.counts` tells which signal.
    case signalled
    case timedOut
  }

  /// Waits until the stream can be read, a signal comes, or the time is over. Nil means no time limit.
  static func wait(
    for stream: Stream, atMost limit: Duration? = nil
  ) throws(TerminalError) -> WaitResult {
    var polled = [
      pollfd(fd: TerminalSignals.selfPipe ?? -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: stream.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    let milliseconds = limit.map { Int32(min($0 / .milliseconds(1), 1e9).rounded(.up)) } ?? -1
    let count = unsafe poll(&polled, nfds_t(polled.count), milliseconds)
    guard count >= 0 else {
      if errno == EINTR { return .signalled }
      throw .failed(operation: "poll", code: errno)
    }
    if polled[0].revents != 0 {
      TerminalSignals.drainSelfPipe()
      return .signalled
    }
    return count == 0 ? .timedOut : .ready
  }

  /// Discards typed input that was not read, because this input could answer a later question.
  package static func discardInput() { tcflush(Stream.input.descriptor, TCIFLUSH) }

  /// The next bytes of the stream, at most `limit` bytes. Waits for the first byte. Empty at the end of the stream.
  package static func read(
    _ stream: Stream = .input, atMost limit: Int = 65_536
  ) throws(TerminalError) -> [UInt8] {
    var code: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      var got = -1
      repeat {
        got = unsafe readBytes(stream.descriptor, buffer.baseAddress, limit)
      } while got < 0 && errno == EINTR
      if got < 0 { code = errno }
      count = max(got, 0)
    }
    // After the window of a terminal was closed, a read gives EIO, which means the end of input. For a disk, EIO is a fault.
    guard code == 0 || code == EIO && isCharacterDevice(stream.descriptor) else {
      throw .failed(operation: "read", code: code)
    }
    return bytes
  }

  /// The next bytes of the stream, which are empty at its end. Nil if ^C comes first.
  package static func next(from stream: Stream = .input) throws(TerminalError) -> [UInt8]? {
    repeat {
      if Interrupts.isPending { return nil }
    } while try wait(for: stream) != .ready
    return try read(stream)
  }

  /// Whether the descriptor is a device such as a terminal. For a terminal whose window was closed, `isatty` would return false.
  private static func isCharacterDevice(_ descriptor: Int32) -> Bool {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
  }

  static func close(_ descriptor: Int32) { closeFile(descriptor) }

  /// Writes all bytes without a buffer. Waits if the other end is slow. Throws `.closed` if no process reads the other end,
  /// provided that `Interrupts.install()` was called.
  package static func write(
    _ bytes: Span<UInt8>, to stream: Stream = .output
  ) throws(TerminalError) {
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.extracting(written...).withUnsafeBufferPointer {
        unsafe writeBytes(stream.descriptor, $0)
      }
      if count >= 0 {
        written += count
      } else {
        try recover(stream.descriptor, from: errno)
      }
    }
  }

  package static func write(_ text: String, to stream: Stream = .output) throws(TerminalError) {
    try write(Array(text.utf8).span, to: stream)
  }

  private static func recover(_ descriptor: Int32, from code: Int32) throws(TerminalError) {
    switch code {
    case EINTR: return
    case EAGAIN:
      // Another process shares the descriptor and has made it non-blocking, so this process waits until the descriptor is ready.
      var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      guard unsafe poll(&polled, 1, -1) >= 0 || errno == EINTR else {
        throw .failed(operation: "poll", code: errno)
      }
    case EPIPE: throw .closed
    default: throw .failed(operation: "write", code: code)
    }
  }
}

// Inside `Terminal`, the names `close`, `read` and `write` mean functions of `Terminal`. The functions below call C functions.

private func closeFile(_ descriptor: Int32) { _ = close(descriptor) }

@unsafe private func readBytes(
  _ descriptor: Int32, _ start: UnsafeMutablePointer<UInt8>?, _ limit: Int
) -> Int {
  unsafe read(descriptor, start, limit)
}

@unsafe private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeBufferPointer<UInt8>) -> Int {
  unsafe write(descriptor, bytes.baseAddress, bytes.count)
}
