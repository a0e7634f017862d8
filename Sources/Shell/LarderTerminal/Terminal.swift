import CEditline

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The three standard streams of the process, and the terminal to which they may be connected.
package enum Terminal {
  package struct Stream: Sendable {
    let descriptor: Int32

    package static let input = Stream(descriptor: STDIN_FILENO)
    package static let output = Stream(descriptor: STDOUT_FILENO)
    package static let error = Stream(descriptor: STDERR_FILENO)
  }

  package typealias Size = (columns: Int, rows: Int)

  package static let usualSize: Size = (80, 24)

  package static func isTerminal(_ stream: Stream) -> Bool { isatty(stream.descriptor) == 1 }

  /// The size of the window of the stream. Nil for a file or a pipe, and if the terminal does not know its size.
  package static func size(of stream: Stream = .output) -> Size? {
    var window = winsize()
    guard unsafe ioctl(stream.descriptor, UInt(TIOCGWINSZ), &window) == 0 else { return nil }
    guard window.ws_col > 0, window.ws_row > 0 else { return nil }
    return (Int(window.ws_col), Int(window.ws_row))
  }

  /// Whether output may have colors: output goes to a terminal, `TERM` is set and not `dumb`, and `NO_COLOR` is unset or empty.
  package static func showsColors(environment: [String: String]) -> Bool {
    movesCursor(on: .output, environment: environment)
      && environment["NO_COLOR", default: ""].isEmpty
  }

  /// Whether a `LineEditor` can work: input and output are a terminal, and this terminal can move its cursor.
  package static func canEditLines(environment: [String: String]) -> Bool {
    isTerminal(.input) && movesCursor(on: .output, environment: environment)
  }

  /// Whether the stream is a terminal that can move its cursor, so that output can be overwritten.
  package static func movesCursor(on stream: Stream, environment: [String: String]) -> Bool {
    isTerminal(stream) && !["", "dumb"].contains(environment["TERM", default: ""])
  }

  /// The arguments of this process without the name of the program, as exact bytes. Swift's own list replaces bytes that are
  /// not UTF-8, so with this list a command could change the entry of another key.
  package static var arguments: [[UInt8]] {
    (1..<max(Int(CommandLine.argc), 1)).map { index in
      guard let word = unsafe CommandLine.unsafeArgv[index] else { return [] }
      return unsafe Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
    }
  }

  /// Whether the name of the requested locale contains UTF-8. The files of this locale need not be installed.
  package static func speaksUTF8(environment: [String: String]) -> Bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"].map { environment[$0, default: ""] }
    let name = names.first { !$0.isEmpty } ?? ""
    let codeset = name.split(separator: "@").first?.split(separator: ".").last ?? ""
    return ["utf-8", "utf8"].contains(codeset.lowercased())
  }

  /// Makes the C library, and so libedit, read UTF-8 in any locale, not only ASCII. Call this once, before other threads start.
  static func useUTF8Characters() {
    _ = unsafe setlocale(LC_CTYPE, "")
    for name in ["C.UTF-8", "en_US.UTF-8"] where cel_codeset_is_utf8() == 0 {
      _ = unsafe setlocale(LC_CTYPE, name)
    }
  }

  /// The number of cells that a scalar needs on the screen. Nil for a control character.
  static func width(of scalar: Unicode.Scalar) -> Int? {
    let width = cel_width(wchar_t(bitPattern: scalar.value))
    return width < 0 ? nil : Int(width)
  }

  enum WaitResult: Equatable {
    /// Bytes can be read without a wait, or the stream has ended.
    case ready
    /// A signal came. `TerminalSignals.counts` tells which signal.
    case signalled
    case timedOut
  }

  /// Waits until the stream can be read, a signal comes, or the time is over. If `limit` is nil, the time has no limit.
  static func wait(
    for stream: Stream, atMost limit: Duration? = nil
  ) throws(TerminalError) -> WaitResult {
    var polled = [
      pollfd(fd: TerminalSignals.selfPipe, events: Int16(POLLIN), revents: 0),
      pollfd(fd: stream.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    let milliseconds = limit.map { Int32(min($0 / .milliseconds(1), 1e9).rounded(.up)) } ?? -1
    let count = unsafe poll(&polled, nfds_t(polled.count), milliseconds)
    if count < 0, errno == EINTR { return .signalled }
    try check(count >= 0, "poll")
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
    repeat { if Interrupts.isPending { return nil } } while try wait(for: stream) != .ready
    return try read(stream)
  }

  /// Whether the descriptor is a device such as a terminal. For a terminal whose window was closed, `isatty` would return false.
  private static func isCharacterDevice(_ descriptor: Int32) -> Bool {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
  }

  /// Writes all bytes without a buffer; waits for a slow reader. After `Interrupts.install()`, throws `.closed` without a reader.
  package static func write(
    _ bytes: Span<UInt8>, to stream: Stream = .output
  ) throws(TerminalError) {
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.extracting(written...).withUnsafeBufferPointer {
        unsafe writeBytes(stream.descriptor, $0)
      }
      switch count < 0 ? errno : 0 {
      case 0: written += count
      case EINTR: continue
      case EAGAIN:
        // Another process has made the shared descriptor non-blocking, so this process waits until the descriptor is ready.
        var polled = pollfd(fd: stream.descriptor, events: Int16(POLLOUT), revents: 0)
        try unsafe check(poll(&polled, 1, -1) >= 0 || errno == EINTR, "poll")
      case EPIPE: throw .closed
      case let code: throw .failed(operation: "write", code: code)
      }
    }
  }

  package static func write(_ text: String, to stream: Stream = .output) throws(TerminalError) {
    try write(Array(text.utf8).span, to: stream)
  }
}

package enum TerminalError: Error, Equatable, CustomStringConvertible {
  /// No process reads the other end (`EPIPE`). The program then ends without a message.
  case closed
  /// The operating system refused the operation with this `errno`.
  case failed(operation: String, code: Int32)
  /// At the path of a file, there is a pipe or a device.
  case notRegularFile(_ path: String)
  case noLineEditor

  package var description: String {
    switch self {
    case .closed: "the reader of the output is gone"
    case .failed(let operation, let code): "\(operation): \(Self.reason(code))"
    case .notRegularFile(let path): "\(path): not a regular file"
    case .noLineEditor: "no lines can be edited on this terminal; set TERM=dumb to go without"
    }
  }

  private static func reason(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
}

/// Throws the present `errno` if a call of the system has failed.
func check(_ succeeded: Bool, _ operation: String) throws(TerminalError) {
  guard succeeded else { throw .failed(operation: operation, code: errno) }
}

/// The time zone of the machine or of `TZ`, from the C library. To load the library ICU would take longer than most commands.
package enum LocalTime {
  /// The offset of local time from UTC at a time, both in seconds.
  package static func offset(at seconds: Int64) -> Int { unsafe parts(at: seconds)?.tm_gmtoff ?? 0 }

  /// The abbreviation of the zone at a time, such as `CET`.
  package static func zone(at seconds: Int64) -> String? {
    guard let name = unsafe parts(at: seconds)?.tm_zone else { return nil }
    return unsafe String(validatingCString: name)
  }

  @unsafe private static func parts(at seconds: Int64) -> tm? {
    var time = time_t(seconds)
    var parts = unsafe tm()
    return unsafe localtime_r(&time, &parts) != nil ? parts : nil
  }
}

// Inside `Terminal`, the names `read` and `write` mean functions of `Terminal`. The functions below call C functions.

@unsafe private func readBytes(
  _ descriptor: Int32, _ start: UnsafeMutablePointer<UInt8>?, _ limit: Int
) -> Int {
  unsafe read(descriptor, start, limit)
}

@unsafe private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeBufferPointer<UInt8>) -> Int {
  unsafe write(descriptor, bytes.baseAddress, bytes.count)
}
