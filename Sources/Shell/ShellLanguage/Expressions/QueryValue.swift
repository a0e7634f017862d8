package enum QueryValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int128)
  case number(Double)
  /// A number outside the range of double, as text.
  case outsized([UInt8])
  case string([UInt8])
  /// A list that is not JSON, such as the tags of an entry.
  case list([QueryValue])
  /// An array or object as JSON text in canonical form, so that equal content is equal text.
  case array([UInt8])
  case object([UInt8])
  case time(UnixTime)
  /// A duration in milliseconds.
  case duration(Int64)

  /// A string, or null for nil and for bytes that are not UTF-8.
  package static func text(_ bytes: [UInt8]?) -> QueryValue {
    guard let bytes, String(validating: bytes, as: UTF8.self) != nil else { return .null }
    return .string(bytes)
  }

  package var type: QueryType {
    switch self {
    case .null: .null
    case .bool: .bool
    case .integer, .number, .outsized, .duration: .number
    case .string, .time: .string
    case .list, .array: .array
    case .object: .object
    }
  }

  /// A number as a double (perhaps rounded), or a duration in seconds; nil for other values.
  package var double: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    case .outsized(let text): text.first == UInt8(ascii: "-") ? -.infinity : .infinity
    case .duration(let milliseconds): Double(milliseconds) / 1000
    case .null, .bool, .string, .list, .array, .object, .time: nil
    }
  }

  /// Whether the operator `=` is true. Values of different types are not equal.
  package func isEqual(to other: QueryValue) -> Bool {
    numericOrder(to: other).map { $0 == 0 } ?? (self == other)
  }

  /// The order for operators such as `<`: negative, zero or positive; nil if the values cannot be compared.
  package func compare(to other: QueryValue) -> Int? {
    switch (self, other) {
    case (.string(let a), .string(let b)): a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
    case (.bool(let a), .bool(let b)): Self.order(a ? 1 : 0, b ? 1 : 0)
    case (.time(let a), .time(let b)): Self.order(a, b)
    default: numericOrder(to: other)
    }
  }

  /// The order of numbers, exact for integers; nil if a value is not a number.
  private func numericOrder(to other: QueryValue) -> Int? {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): Self.order(a, b)
    case (.integer(let a), _): other.double.map { Self.order(a, $0) }
    case (_, .integer(let b)): double.map { -Self.order(b, $0) }
    default: double.flatMap { a in other.double.map { Self.order(a, $0) } }
    }
  }

  /// The value, with a whole number as an integer, so that `1` and `1.0` are the same value.
  package var normalized: QueryValue {
    guard case .number(let number) = self else { return self }
    return Int128(exactly: number).map { .integer($0) } ?? self
  }

  private static func order(_ integer: Int128, _ number: Double) -> Int {
    guard number < 0x1p127 else { return -1 }
    guard number >= -0x1p127 else { return 1 }
    let floor = number.rounded(.down)
    let whole = order(integer, Int128(floor))
    return whole == 0 && number > floor ? -1 : whole
  }

  private static func order<Value: Comparable>(_ a: Value, _ b: Value) -> Int {
    a < b ? -1 : a == b ? 0 : 1
  }

  /// The total order of `--sort`: null < false < true < numbers < times and strings < arrays < objects.
  package func precedes(_ other: QueryValue) -> Bool {
    if let order = compare(to: other) { return order < 0 }
    let (a, b) = (type, other.type)
    guard a == b else { return QueryType.allCases.first { $0 == a || $0 == b } == a }
    return text.lexicographicallyPrecedes(other.text)
  }

  /// A string without quotes; any other value as JSON.
  package var text: [UInt8] { if case .string(let text) = self { text } else { Array(json.utf8) } }

  package var json: String {
    switch self {
    case .null: return "null"
    case .bool(let value): return value ? "true" : "false"
    case .integer(let value): return String(value)
    case .number(let value):
      guard value.isFinite else { return "null" }
      return value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
    case .string(let bytes): return JSON.string(String(decoding: bytes, as: UTF8.self)).text
    case .list(let values): return "[" + values.map(\.json).joined(separator: ",") + "]"
    case .outsized(let bytes), .array(let bytes), .object(let bytes):
      return String(decoding: bytes, as: UTF8.self)
    case .time(let time): return JSON.string(time.rfc3339).text
    case .duration(let milliseconds): return Cell.seconds(milliseconds)
    }
  }

  /// The value as a cell: null is empty in CSV, `null` in plain output and a dash in a table.
  package var cell: Cell {
    switch self {
    case .bool(let value): return .bool(value)
    case .duration(let milliseconds): return .span(milliseconds)
    case .time(let time): return .time(time)
    case .string(let bytes):
      let text = String(decoding: bytes, as: UTF8.self)
      return .value(text: text, json: .string(text), isNumber: false)
    case .null, .integer, .number, .outsized, .list, .array, .object:
      let text = json
      let value: JSON = text == "null" ? .null : .verbatim(text)
      return .value(text: text, json: value, isNumber: type == .number)
    }
  }
}

/// The types in the order of `--sort`.
package enum QueryType: String, Sendable, Hashable, CaseIterable {
  case null, bool, number, string, array, object
}
