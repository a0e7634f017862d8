import HTTPTypes

/// A range that a request asks for (RFC 9110, 14.1.2).
enum ByteRange: Equatable {
  /// From one byte on, to a last one or the end.
  case from(Int, to: Int?)
  /// So many at the end.
  case suffix(Int)

  /// The ranges of a request; nil if it has none that can be understood, and is to be answered as if it had none.
  static func parse(_ fields: HTTPFields) -> [ByteRange]? {
    let lines = fields[values: .range]
    guard lines.count == 1, let equals = lines[0].firstIndex(of: "="),
      lines[0][..<equals].trimmed.lowercased() == "bytes"
    else { return nil }
    var ranges: [ByteRange] = []
    for member in fieldMembers([String(lines[0][lines[0].index(after: equals)...])]) {
      guard let range = ByteRange(member) else { return nil }
      ranges.append(range)
    }
    return ranges.isEmpty ? nil : ranges
  }

  private init?(_ text: Substring) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(\.trimmed)
    guard parts.count == 2 else { return nil }
    let last = ContentRange.position(parts[1])
    if parts[0].isEmpty {
      guard let last else { return nil }
      self = .suffix(last)
    } else {
      guard let first = ContentRange.position(parts[0]), parts[1].isEmpty || last != nil,
        last.map({ $0 >= first }) ?? true
      else { return nil }
      self = .from(first, to: last)
    }
  }

  /// The bytes of the range in a representation of `count` bytes; nil if the range is empty.
  func resolved(in count: Int) -> ClosedRange<Int>? {
    switch self {
    case .from(let first, let last):
      first < count ? first...min(last ?? count - 1, count - 1) : nil
    case .suffix(let length):
      length > 0 && count > 0 ? max(0, count - length)...count - 1 : nil
    }
  }
}
