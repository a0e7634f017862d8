#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The three streams of the process and the terminal they may be connected to.
package enum Terminal {
  /// A stream the process was started with.
  package enum Stream: Int32, Sendable {
    case input = 0
    case output = 1
    case error = 2
  }

  /// A window's extent in character cells.
  package struct Size: Equatable, Sendable {
    package let columns: Int
    package let rows: Int

    package init(columns: Int, rows: Int) {
      self.columns = columns
      self.rows = rows
    }
  }

  /// Whether the stream is a terminal rather than a file or a pipe.
  package static func isTerminal(_ stream: Stream) -> Bool { isatty(stream.rawValue) == 1 }

  /// The window behind the stream; nil for a file or a pipe, and for a terminal that does not know.
  package static func size(of stream: Stream = .output) -> Size? {
    var window = winsize()
    guard unsafe ioctl(stream.rawValue, UInt(TIOCGWINSZ), &window) == 0 else { return nil }
    guard window.ws_col > 0, window.ws_row > 0 else { return nil }
    return Size(columns: Int(window.ws_col), rows: Int(window.ws_row))
  }

  /// Whether to write colours to the stream: it is a terminal that knows them, and `NO_COLOR` is unset or empty.
  package static func showsColours(
    on stream: Stream = .output, environment: [String: String]
  ) -> Bool {
    isTerminal(stream) && isCapable(environment) && environment["NO_COLOR", default: ""].isEmpty
  }

  /// Whether a `LineEditor` can work: both ends are a terminal, and it can move its cursor.
  package static func canEditLines(environment: [String: String]) -> Bool {
    isTerminal(.input) && isTerminal(.output) && isCapable(environment)
  }

  /// Whether output on the stream can be overwritten.
  package static func movesCursor(on stream: Stream, environment: [String: String]) -> Bool {
    isTerminal(stream) && isCapable(environment)
  }

  private static func isCapable(_ environment: [String: String]) -> Bool {
    !["", "dumb"].contains(environment["TERM", default: ""])
  }
}
