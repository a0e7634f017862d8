/// A JSON value that keeps the order of its fields, unlike `JSONEncoder`.
package enum JSON: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(Int)
  /// Text that is valid JSON: digits, or a stored value in its original form.
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

  /// The value on one line. Except in verbatim text, hidden characters are escaped, because a terminal might act on them.
  package var text: String {
    var result = ""
    write(to: &result)
    return result
  }

  /// The value as a field of a plain line: a string without quotes; nil for null.
  var field: String? {
    switch self {
    case .null: nil
    case .string(let text): text
    default: text
    }
  }

  private func write(to result: inout String) {
    switch self {
    case .null: result.append("null")
    case .bool(let value): result.append(value ? "true" : "false")
    case .number(let value): result.append(String(value))
    case .verbatim(let text): result.append(text)
    case .string(let string): Self.write(string, to: &result)
    case .array(let values):
      for (index, value) in values.enumerated() {
        result.append(index == 0 ? "[" : ",")
        value.write(to: &result)
      }
      result.append(values.isEmpty ? "[]" : "]")
    case .object(let fields):
      for (index, field) in fields.enumerated() {
        result.append(index == 0 ? "{" : ",")
        Self.write(field.name, to: &result)
        result.append(":")
        field.value.write(to: &result)
      }
      result.append(fields.isEmpty ? "{}" : "}")
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
      default: append(scalar, to: &result)
      }
    }
  }

  /// JSON text that is safe to print: escapes replace hidden characters, and spaces replace newlines and tabs between tokens.
  package static func printable(_ text: some Collection<UInt8>) -> [UInt8] {
    guard !text.allSatisfy(\.isPrintable) else { return Array(text) }
    var safe = ""
    for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
      switch scalar {
      case "\n", "\t", "\r": safe.append(" ")
      default: append(scalar, to: &safe)
      }
    }
    return Array(safe.utf8)
  }

  /// Appends a scalar. A control or hidden character becomes an escape such as `\u202e`, or two escapes if beyond U+FFFF.
  private static func append(_ scalar: Unicode.Scalar, to result: inout String) {
    guard scalar.isControl || scalar.isHidden else { return result.unicodeScalars.append(scalar) }
    for unit in String(scalar).utf16 { result += "\\u" + Quoting.hex(unit) }
  }
}
