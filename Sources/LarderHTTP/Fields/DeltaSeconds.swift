/// A number of seconds as fields say it (RFC 9111, 1.2.2).
enum DeltaSeconds {
  /// The value of a number that is too large: 68 years, longer than any response is kept.
  static let most = 1 << 31

  /// The number that `text` is; nil unless it is digits and nothing else. Cut to ``most``.
  static func parse(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty else { return nil }
    var value = 0
    for byte in text.utf8 {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      value = min(most, value * 10 + Int(byte - UInt8(ascii: "0")))
    }
    return value
  }
}

extension Duration {
  /// Whole seconds, at most those of some 30,000 years: `components` traps beyond 64 bits.
  var wholeSeconds: Int64 {
    let longest = Duration.seconds(1 << 40)
    return min(max(self, .zero - longest), longest).components.seconds
  }
}
