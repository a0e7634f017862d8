/// A JSON value that keeps the order of its fields. Scripts and people rely on the order, which `JSONEncoder` does not
/// keep.
package enum JSON: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(Int)
  /// Text that is JSON already: digits, or a stored value whose numbers and order must not change.
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

  /// The value on one line, in UTF-8. Hidden characters of strings are escaped to protect a terminal; verbatim text stays.
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
    // Nearly every string is printable ASCII and needs no escape.
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

  /// The escape of a scalar: `\u202e`, or two such escapes.
  package static func escape(_ scalar: Unicode.Scalar) -> String {
    String(scalar).utf16.map { unit in
      let hex = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
    }.joined()
  }
}
