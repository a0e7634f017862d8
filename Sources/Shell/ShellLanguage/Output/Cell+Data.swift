import LarderSystem

extension Cell {
  /// The field of an object. Bytes that are not UTF-8 become base64, because a string would lose bytes.
  package func jsonField(_ name: String) -> JSON.Field {
    switch self {
    case .base64: JSON.Field("\(name)_base64", json)
    case .bytes(let bytes) where String(validating: bytes, as: UTF8.self) == nil:
      Cell.base64(bytes).jsonField(name)
    default: JSON.Field(name, json)
    }
  }

  private var json: JSON {
    switch self {
    case .bytes(let bytes): .string(String(decoding: bytes, as: UTF8.self))
    case .base64(let bytes): .string(bytes.base64)
    case .text(let text), .prose(let text): .string(text)
    case .number(let number), .size(let number): .number(number)
    case .time(let time), .stale(let time): .string(time.rfc3339)
    case .expiry(let time), .deadline(let time): time.map { .string($0.rfc3339) } ?? .null
    case .span(let milliseconds): .verbatim(Self.seconds(milliseconds))
    case .bool(let value): .bool(value)
    case .share(let value), .bar(let value): value.isFinite ? .verbatim("\(value)") : .null
    case .entry(let namespace, let key):
      .object([Cell.text(namespace).jsonField("namespace"), Cell.bytes(key).jsonField("key")])
    case .list(let cells): .array(cells.map(\.json))
    case .json(let value): value
    case .value(_, let json, _): json
    case .null, .blank: .null
    }
  }

  /// A field of `plain` output; empty for null. In a name, double quotes are escaped, so that a person can type the name back.
  package func plain(isName: Bool) -> String {
    let bytes = if case .value(let text, _, _) = self { Array(text.utf8) } else { raw }
    return Quoting.plain(bytes, isName: isName)
  }

  package var raw: [UInt8] {
    if case .bytes(let bytes) = self { bytes } else { Array((json.field ?? "").utf8) }
  }

  /// Milliseconds as exact seconds, such as `853.2` or `-0.5`.
  static func seconds(_ milliseconds: Int64) -> String {
    let (whole, rest) = milliseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
    var text = "\(milliseconds < 0 ? "-" : "")\(whole).\(padded(Int(rest), 3))"
    while text.last == "0" { text.removeLast() }
    return text.last == "." ? String(text.dropLast()) : text
  }
}

/// CSV by RFC 4180, with quotes only where they are needed. Null is empty, and an empty string is `""`.
package enum CSV {
  /// The header is the same for all rows, so a column that may hold bytes always has a second column for base64.
  package static func header(_ columns: [Column]) -> [String?] {
    columns.flatMap { $0.holdsBytes ? [$0.name, "\($0.name)_base64"] : [$0.name] }
  }

  package static func fields(_ cell: Cell, of column: Column) -> [String?] {
    let field = cell.jsonField(column.name)
    let text = field.value.field
    guard column.holdsBytes else { return [text] }
    return field.name == column.name ? [text, nil] : [nil, text]
  }

  package static func line(_ fields: [String?]) -> [UInt8] {
    Array((fields.map { $0.map(quoted) ?? "" }.joined(separator: ",") + "\r\n").utf8)
  }

  private static let acting = Array(",\"\r\n".utf8)

  private static func quoted(_ text: String) -> String {
    guard text.isEmpty || text.utf8.contains(where: acting.contains) else { return text }
    // A quote and a combining mark after the quote are one character in Swift, so the text is split by scalars.
    let parts = text.unicodeScalars.split(separator: "\"", omittingEmptySubsequences: false)
    return "\"" + parts.map { String($0) }.joined(separator: "\"\"") + "\""
  }
}
