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

/// Standard output.
public enum Output {
  /// Writes the text and a line feed to standard output immediately, so that a failure ends the command. Replaces control
  /// characters. But a pipe gets a document of a service unchanged.
  public static func write(_ text: String, isDocument: Bool = false) throws {
    let isRaw = isDocument && isatty(FileHandle.standardOutput.fileDescriptor) != 1
    do {
      let line = (isRaw ? text : text.printable) + "\n"
      try FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
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
  /// The text with U+FFFD for control characters and for marks that change the direction of text, because a service could
  /// control the terminal with such characters. Line feeds and tabs stay.
  public var printable: String {
    let shown = unicodeScalars.map { scalar -> Unicode.Scalar in
      let isControl =
        scalar.properties.generalCategory == .control && scalar != "\t" && scalar != "\n"
      return isControl || scalar.properties.isBidiControl ? "\u{FFFD}" : scalar
    }
    return String(String.UnicodeScalarView(shown))
  }

  /// The printable text in one line: line breaks and tabs become blanks.
  public var inOneLine: String {
    let line = unicodeScalars.map { $0 == "\t" || CharacterSet.newlines.contains($0) ? " " : $0 }
    return String(String.UnicodeScalarView(line)).printable
  }

  public func padded(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - count))
  }

  /// The text with quotes for a POSIX shell or the command language of `larder`, if the text needs quotes.
  public var larderWord: String {
    let isPlain = wholeMatch(of: /[A-Za-z0-9._\/+:,][A-Za-z0-9._\/+:,-]*/) != nil
    return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
  }
}

extension CacheResult {
  /// The source and the age: `from the store, 300 s old, stale: the service cannot be reached`.
  public var words: String {
    let place =
      switch source {
      case .loaded, .shared: "from the service"
      case .memory: "from memory, \(age.components.seconds) s old"
      case .disk, .stale: "from the store, \(age.components.seconds) s old"
      }
    let state = source == .stale ? ", stale" : error == nil ? "" : ", not stored"
    return place + state + (error.map { ": \($0)" } ?? "")
  }
}
