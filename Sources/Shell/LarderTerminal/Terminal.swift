import CEditline

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The three streams of the process, and the terminal to which they may be connected.
package enum Terminal {
  /// A stream of the process, or an open file.
  package struct Stream: Sendable {
    let descriptor: Int32

    package static let input = Stream(descriptor: STDIN_FILENO)
    package static let output = Stream(descriptor: STDOUT_FILENO)
    package static let error = Stream(descriptor: STDERR_FILENO)
  }

  /// The size of a window in character cells.
  package struct Size: Equatable, Sendable {
    package static let usual = Size(columns: 80, rows: 24)

    package let columns: Int
    package let rows: Int
  }

  /// Whether the stream is a terminal rather than a file or a pipe.
  package static func isTerminal(_ stream: Stream) -> Bool { isatty(stream.descriptor) == 1 }

  /// The size of the stream's window; nil for a file or a pipe, and for a terminal that does not know its size.
  package static func size(of stream: Stream = .output) -> Size? {
    var window = winsize()
    guard unsafe ioctl(stream.descriptor, UInt(TIOCGWINSZ), &window) == 0 else { return nil }
    guard window.ws_col > 0, window.ws_row > 0 else { return nil }
    return Size(columns: Int(window.ws_col), rows: Int(window.ws_row))
  }

  /// Whether to write colors to the output: it is a terminal, `TERM` is set and not `dumb`, and `NO_COLOR` is unset or empty.
  package static func showsColors(environment: [String: String]) -> Bool {
    movesCursor(on: .output, environment: environment)
      && environment["NO_COLOR", default: ""].isEmpty
  }

  /// Whether a `LineEditor` can work: input and output are a terminal, and the terminal can move its cursor.
  package static func canEditLines(environment: [String: String]) -> Bool {
    isTerminal(.input) && movesCursor(on: .output, environment: environment)
  }

  /// Whether output on the stream can be overwritten.
  package static func movesCursor(on stream: Stream, environment: [String: String]) -> Bool {
    isTerminal(stream) && !["", "dumb"].contains(environment["TERM", default: ""])
  }

  /// The arguments of this process without the program's name, byte for byte: Swift's own list replaces bytes that are not
  /// UTF-8, so that a command could change another key.
  package static var arguments: [[UInt8]] {
    (1..<max(Int(CommandLine.argc), 1)).map { index in
      guard let word = unsafe CommandLine.unsafeArgv[index] else { return [] }
      return unsafe Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
    }
  }

  /// Whether the name of the requested locale says UTF-8. The files of the locale need not be installed.
  package static func speaksUTF8(environment: [String: String]) -> Bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"].map { environment[$0, default: ""] }
    let name = names.first { !$0.isEmpty } ?? ""
    let codeset = name.split(separator: "@").first?.split(separator: ".").last ?? ""
    return ["utf-8", "utf8"].contains(codeset.lowercased())
  }

  /// Makes the C library read characters as UTF-8, whatever the locale.
  ///
  /// Otherwise libedit drops every byte beyond ASCII silently. Call it once, before other threads start.
  static func useUTF8Characters() {
    _ = unsafe setlocale(LC_CTYPE, "")
    for name in ["C.UTF-8", "en_US.UTF-8"] where cel_codeset_is_utf8() == 0 {
      _ = unsafe setlocale(LC_CTYPE, name)
    }
  }

  /// The cells that the scalars take on the screen; nil if one of them is a control character.
  static func width(of scalars: some Sequence<Unicode.Scalar>) -> Int? {
    var total = 0
    for scalar in scalars {
      let width = cel_width(wchar_t(bitPattern: scalar.value))
      guard width >= 0 else { return nil }
      total += Int(width)
    }
    return total
  }
}

/// The reason why bytes could not be read from or written to a stream of the process.
package enum TerminalError: Error, Equatable, CustomStringConvertible {
  /// The reader is gone (`EPIPE`): stop quietly.
  case closed

  /// The operating system refused, with its `errno`.
  case failed(operation: String, code: Int32)

  /// A pipe or a device is in the place of a file on a disk.
  case notRegularFile(_ path: String)

  /// libedit cannot work with this terminal.
  case noLineEditor

  package var description: String {
    switch self {
    case .closed: "the reader of the output is gone"
    case .failed(let operation, let code): "\(operation): \(Self.reason(code))"
    case .notRegularFile(let path): "\(path): not a regular file"
    case .noLineEditor: "no lines can be edited on this terminal; set TERM=dumb to go without"
    }
  }

  private static func reason(_ code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 256)
    let known = unsafe strerror_r(code, &text, text.count)
    guard known == 0 else { return "error \(code)" }
    let bytes = text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The time zone of the machine, or of `TZ`, from the C library: loading ICU would take longer than most commands.
package enum LocalTime {
  /// The offset of local time from UTC at a time, both in seconds.
  package static func offset(at seconds: Int64) -> Int {
    var time = time_t(seconds)
    var parts = unsafe tm()
    guard unsafe localtime_r(&time, &parts) != nil else { return 0 }
    return unsafe parts.tm_gmtoff
  }

  /// The abbreviation of the zone at a time, such as `CET`.
  package static func zone(at seconds: Int64) -> String? {
    var time = time_t(seconds)
    var parts = unsafe tm()
    guard unsafe localtime_r(&time, &parts) != nil, let name = unsafe parts.tm_zone else {
      return nil
    }
    return unsafe String(validatingCString: name)
  }
}
