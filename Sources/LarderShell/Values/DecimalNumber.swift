/// Digits with an optional fraction, kept exact until they are multiplied by their unit.
struct DecimalNumber {
  private let integer: Int64
  private let fraction: Int64
  private let scale: Int64

  /// Nil unless it is `12` or `1.5`, of at most 15 and 9 digits.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count),
      parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isDigit) }),
      parts[0].count <= 15, parts.count == 1 || parts[1].count <= 9,
      let integer = Int64(parts[0]), let fraction = parts.count == 1 ? 0 : Int64(parts[1])
    else { return nil }
    self.integer = integer
    self.fraction = fraction
    scale = (0..<(parts.count == 1 ? 0 : parts[1].count)).reduce(1) { scale, _ in scale * 10 }
  }

  /// The number if it has no fraction.
  var whole: Int64? { fraction == 0 ? integer : nil }

  /// The product rounded to the nearest whole number; nil beyond Int64.
  func times(_ unit: Int64) -> Int64? {
    let (product, overflow) = integer.multipliedReportingOverflow(by: unit)
    guard !overflow else { return nil }
    let part = fraction.multipliedFullWidth(by: unit)
    let (quotient, remainder) = scale.dividingFullWidth(part)
    let (sum, tooBig) = product.addingReportingOverflow(
      quotient + (remainder >= scale - remainder ? 1 : 0))
    return tooBig ? nil : sum
  }
}
