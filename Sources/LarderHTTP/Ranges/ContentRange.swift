import HTTPTypes

/// Which part of the whole a response is (RFC 9110, 14.4).
struct ContentRange: Equatable {
  var bytes: ClosedRange<Int>
  /// Bytes of the whole.
  var whole: Int

  var count: Int { bytes.count }

  init(_ bytes: ClosedRange<Int>, of whole: Int) {
    self.bytes = bytes
    self.whole = whole
  }

  /// Nil unless there is one such field, in bytes, that makes sense and knows the whole.
  init?(_ fields: HTTPFields) {
    let lines = fields[values: .contentRange]
    guard lines.count == 1 else { return nil }
    let words = lines[0].split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let whole = Self.position(parts[1]) else { return nil }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.position(ends[0]), let last = Self.position(ends[1]),
      first <= last, last < whole
    else { return nil }
    self.init(first...last, of: whole)
  }

  var text: String { "bytes \(bytes.lowerBound)-\(bytes.upperBound)/\(whole)" }

  var isWhole: Bool { bytes.count == whole }

  /// Both in one, if they overlap or touch; nil if a gap is between them or they are of different wholes.
  func joined(with other: ContentRange) -> ContentRange? {
    guard whole == other.whole, bytes.lowerBound <= other.bytes.upperBound + 1,
      other.bytes.lowerBound <= bytes.upperBound + 1
    else { return nil }
    let first = min(bytes.lowerBound, other.bytes.lowerBound)
    return ContentRange(first...max(bytes.upperBound, other.bytes.upperBound), of: whole)
  }

  /// The range that completes the part; nil if one range cannot complete it.
  var missing: String? {
    if isWhole { return nil }
    if bytes.lowerBound == 0 { return "bytes=\(bytes.upperBound + 1)-" }
    return bytes.upperBound == whole - 1 ? "bytes=0-\(bytes.lowerBound - 1)" : nil
  }

  /// A position; numbers that nothing is as long as are cut.
  static func position(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty else { return nil }
    var value = 0
    for byte in text.utf8 {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      value = min(1 << 56, value * 10 + Int(byte - UInt8(ascii: "0")))
    }
    return value
  }
}
