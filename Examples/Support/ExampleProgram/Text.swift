import Foundation
public import Larder
import Service

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

  public static func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
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
  fileprivate var isBreak: Bool {
    [0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029].contains(value)
  }

  /// C0 except tab and line feed, DEL and C1, and marks that change the direction of the text after them.
  fileprivate var isControl: Bool {
    switch value {
    case 0x09, 0x0A: false
    case ..<0x20, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
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
