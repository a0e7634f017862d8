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

  package struct Size: Equatable, Sendable {
    package static let usual = Size(columns: 80, rows: 24)

    package let columns: Int
    package let rows: Int
  }

  package static func isTerminal(_ stream: Stream) -> Bool { isatty(stream.descriptor) == 1 }

  /// The size of the window of the stream. Nil for a file or a pipe, and if the terminal does not know its size.
  package static func size(of stream: Stream = .output) -> Size? {
    var window = winsize()
    guard unsafe ioctl(stream.descriptor, UInt(TIOCGWINSZ), &window) == 0 else { return nil }
    guard window.ws_col > 0, window.ws_row > 0 else { return nil }
    return Size(columns: Int(window.ws_col), rows: Int(window.ws_row))
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

  /// Makes the C library read characters as UTF-8 in any locale. Without this call, libedit drops each byte that is not ASCII.
  /// Call the function once, before other threads start.
  static func useUTF8Characters() {
    _ = unsafe setlocale(LC_CTYPE, "")
    for name in ["C.UTF-8", "en_US.UTF-8"] where cel_codeset_is_utf8() == 0 {
      _ = unsafe setlocale(LC_CTYPE, name)
    }
  }

  /// The number of cells that the scalars need on the screen. Nil if one of the scalars is a control character.
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
