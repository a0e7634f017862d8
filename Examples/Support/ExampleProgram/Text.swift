import Foundation
public import Larder
import Service

/// Standard error: messages for people, never data.
public enum Console {
  /// Whether standard error is a terminal that can return to the start of a line.
  public static var isTerminal: Bool {
    isatty(FileHandle.standardError.fileDescriptor) == 1
      && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  /// A message in one line.
  public static func complain(_ line: String) { write(line.inOneLine + "\n") }

  /// Nobody can be told of a failure.
  public static func write(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}

/// The form of everything that is printed with `--json`. Control characters in it are escaped.
public enum JSONOutput {
  public static func text(_ value: some Encodable, pretty: Bool = false) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
    let text = String(decoding: try encoder.encode(value), as: UTF8.self)
    // The encoder escapes C0 alone.
    guard text.unicodeScalars.contains(where: \.isControl) else { return text }
    return text.unicodeScalars.map { scalar in
      guard scalar.isControl else { return String(scalar) }
      let digits = String(scalar.value, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }
}

extension Int {
  /// With a comma before every three digits.
  public var grouped: String {
    var text = ""
    for (place, digit) in String(magnitude).reversed().enumerated() {
      if place > 0, place.isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return (self < 0 ? "-" : "") + String(text.reversed())
  }

  /// `1 row`, `1,200 rows`.
  public func counted(_ noun: String) -> String { grouped + " " + noun + (self == 1 ? "" : "s") }
}

extension String {
  /// Without control characters, by which a service could command the terminal; line feeds and tabs stay.
  public var printable: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.map { $0.isControl ? "\u{FFFD}" : $0 }))
  }

  /// The same in one line: line breaks and tabs are blanks.
  public var inOneLine: String {
    guard unicodeScalars.contains(where: { $0.isControl || $0.isBreak }) else { return self }
    return String(
      String.UnicodeScalarView(
        unicodeScalars.map { $0.isBreak ? " " : $0.isControl ? "\u{FFFD}" : $0 }))
  }

  public func padding(to width: Int, with filler: Character) -> String {
    self + String(repeating: filler, count: Swift.max(0, width - count))
  }

  public func padded(to width: Int) -> String { padding(to: width, with: " ") }

  public func flushRight(to width: Int) -> String {
    String(repeating: " ", count: Swift.max(0, width - count)) + self
  }

  /// Quoted for a POSIX shell where necessary.
  public var shellWord: String { quoted(plain: "/._-+:,@%") }

  /// Quoted for the command language of `larder` where necessary.
  public var larderWord: String { quoted(plain: "/._-+:,") }

  private func quoted(plain: String) -> String {
    let isPlain =
      !isEmpty && !hasPrefix("-")
      && utf8.allSatisfy { $0.isAlphanumeric || plain.utf8.contains($0) }
    return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
  }
}

extension Unicode.Scalar {
  fileprivate var isBreak: Bool {
    [0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029].contains(value)
  }

  /// C0, DEL and C1, and the marks that change the direction of the text after them.
  fileprivate var isControl: Bool {
    switch value {
    case 0x09, 0x0A: false
    case ..<0x20, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}

/// A table in columns of equal width: the first flush left, the others flush right.
public struct TextTable {
  private var rows: [[String]]

  public init(_ header: [String]) { rows = [header] }
  public mutating func add(_ row: [String]) { rows.append(row) }

  public var lines: [String] {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      row.indices.map { column in
        column == 0 ? row[0].padded(to: widths[0]) : row[column].flushRight(to: widths[column])
      }.joined(separator: "  ")
    }
  }
}

/// A value with its source and age, as it is printed with `--json`.
public struct Sourced<Value: Encodable>: Encodable {
  public var key: String?
  public var value: Value
  public var source: String
  /// In seconds.
  public var age: Int
  public var isStale: Bool
  public var error: String?
  /// `from the store, 5 minutes old`.
  public let words: String

  private enum CodingKeys: String, CodingKey { case key, value, source, age, isStale, error }

  /// - Parameter value: a part of the result.
  public init<Held>(_ result: CacheResult<Held>, _ value: Value, of key: String? = nil) {
    (self.key, self.value, words) = (key, value, result.words)
    source = result.source.rawValue
    age = Int(result.age / .seconds(1))
    isStale = result.source == .stale
    error = result.error.map { "\($0)" }
  }

  public init(_ result: CacheResult<Value>, of key: String? = nil) where Value: Sendable {
    self.init(result, result.value, of: key)
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
