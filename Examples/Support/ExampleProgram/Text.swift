import Foundation
public import Larder

/// Standard error: messages for people, never data.
public enum Console {
  public static func complain(_ line: String) { write(line.inOneLine + "\n") }

  /// Writes text to standard error. Ignores errors, because there is no other place to report them.
  public static func write(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}

/// Standard output. Each call writes at once, so that a failure ends the command.
public enum Output {
  /// Writes the text, without control characters, and a line feed.
  public static func write(_ text: String) throws { try write(raw: text.printable) }

  /// Writes a document of a service. A pipe gets the bytes as they are.
  public static func write(document text: String) throws {
    let isTerminal = isatty(FileHandle.standardOutput.fileDescriptor) == 1
    try write(raw: isTerminal ? text.printable : text)
  }

  private static func write(raw text: String) throws {
    do {
      try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    } catch {
      throw Failure(.failed, "standard output cannot be written: \(error.localizedDescription)")
    }
  }
}

extension Int {
  /// The number with the noun: `1 row`, `2 rows`.
  public func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

extension String {
  /// The text with U+FFFD for control characters, by which a service could command the terminal. Line feeds and tabs stay.
  public var printable: String {
    String(String.UnicodeScalarView(unicodeScalars.map { $0.isControl ? "\u{FFFD}" : $0 }))
  }

  /// The printable text in one line: line breaks and tabs become blanks.
  public var inOneLine: String {
    String(String.UnicodeScalarView(unicodeScalars.map { $0.isBreak ? " " : $0 })).printable
  }

  public func padded(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - count))
  }

  /// The text with quotes for a POSIX shell or the command language of `larder`, if it needs them.
  public var larderWord: String {
    let isPlain = wholeMatch(of: /[A-Za-z0-9._\/+:,][A-Za-z0-9._\/+:,-]*/) != nil
    return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
  }
}

extension Unicode.Scalar {
  fileprivate var isBreak: Bool { self == "\t" || CharacterSet.newlines.contains(self) }

  /// Control characters except tab and line feed, and marks that change the direction of the text after them.
  fileprivate var isControl: Bool {
    properties.generalCategory == .control && self != "\t" && self != "\n"
      || properties.isBidiControl
  }
}

extension Duration {
  /// The duration in words: `6 minutes`, `90 seconds`, `1 hour`, `40 ms`.
  public var words: String {
    let milliseconds = Int(min(max(self / .milliseconds(1), -1e15), 1e15))
    let units = [(86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second")]
    for (unit, name) in units where milliseconds >= 2 * unit || milliseconds == unit {
      return ((milliseconds + unit / 2) / unit).counted(name)
    }
    return "\(milliseconds) ms"
  }
}

extension CacheResult {
  /// The source and the age: `from the store, 5 minutes old, stale: the service cannot be reached`.
  public var words: String {
    let place =
      switch source {
      case .loaded, .shared: "from the service"
      case .memory: "from memory, \(age.words) old"
      case .disk, .stale: "from the store, \(age.words) old"
      }
    let state = source == .stale ? ", stale" : error == nil ? "" : ", not stored"
    return place + state + (error.map { ": \($0)" } ?? "")
  }
}
