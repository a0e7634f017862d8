/// A JSON value that keeps the order of its fields, which scripts and people rely on and
/// `JSONEncoder` does not give.
package enum JSON: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(Int)
  /// JSON already: digits, or a stored value whose numbers and order stay as they are.
  case verbatim(String)
  case string(String)
  case array([JSON])
  case object([Field])

  package struct Field: Sendable, Hashable {
    package let name: String
    package let value: JSON

    package init(_ name: String, _ value: JSON) {
      self.name = name
      self.value = value
    }
  }

  /// Compact, on one line, in UTF-8; hidden characters are escaped so that a terminal is safe too.
  package var text: String {
    var result = ""
    write(to: &result)
    return result
  }

  private func write(to result: inout String) {
    switch self {
    case .null: result.append("null")
    case .bool(let value): result.append(value ? "true" : "false")
    case .number(let value): result.append(String(value))
    case .verbatim(let text): result.append(text)
    case .string(let string): Self.write(string, to: &result)
    case .array(let values):
      result.append("[")
      for (index, value) in values.enumerated() {
        if index > 0 { result.append(",") }
        value.write(to: &result)
      }
      result.append("]")
    case .object(let fields):
      result.append("{")
      for (index, field) in fields.enumerated() {
        if index > 0 { result.append(",") }
        Self.write(field.name, to: &result)
        result.append(":")
        field.value.write(to: &result)
      }
      result.append("}")
    }
  }

  private static func write(_ string: String, to result: inout String) {
    result.append("\"")
    defer { result.append("\"") }
    // Nearly every string is printable ASCII, and then there is nothing to look at.
    if string.utf8.allSatisfy({ $0.isPrintable && $0 != .doubleQuote && $0 != .backslash }) {
      result.append(string)
      return
    }
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": result.append("\\\"")
      case "\\": result.append("\\\\")
      case "\n": result.append("\\n")
      case "\t": result.append("\\t")
      case "\r": result.append("\\r")
      case let scalar where scalar.isControl || scalar.isHidden: result.append(escape(scalar))
      default: result.unicodeScalars.append(scalar)
      }
    }
  }

  /// `\u202e`, or a pair of them.
  package static func escape(_ scalar: Unicode.Scalar) -> String {
    String(scalar).utf16.map { unit in
      let hex = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
    }.joined()
  }
}
