import ShellLanguage

/// The sum, smallest, largest or average of the values of an operand.
struct Aggregate {
  enum Kind: String { case sum, min, max, avg }

  private static let mostGroups = 100_000

  private let kind: Kind
  private(set) var values = 0
  /// The number of values that were skipped, because the aggregate cannot use their type.
  private(set) var skipped = 0
  /// The sum of the values, or the smallest or largest value. Nil if there are no values.
  private var total: QueryValue?

  init(_ kind: Kind) { self.kind = kind }

  static func check(_ groups: Int) throws(ShellError) {
    guard groups <= mostGroups else {
      throw ShellError(
        .overLimit, "more than \(Wording.count(mostGroups)) groups",
        hint: "select fewer entries, or group by another operand")
    }
  }

  mutating func add(_ value: QueryValue) {
    let isUsed =
      switch value {
      case .integer, .number, .outsized, .duration: true
      case .string, .time: kind == .min || kind == .max
      case .null, .bool, .list, .array, .object: false
      }
    guard isUsed else {
      skipped += 1
      return
    }
    values += 1
    switch kind {
    case .sum, .avg: total = Self.sum(total, value)
    case .min: if total.map({ value.precedes($0) }) ?? true { total = value }
    case .max: if total.map({ $0.precedes(value) }) ?? true { total = value }
    }
  }

  /// The exact sum of integers, or of durations. Otherwise, and on overflow, the sum of doubles.
  private static func sum(_ a: QueryValue?, _ b: QueryValue) -> QueryValue {
    switch (a, b) {
    case (nil, .integer), (nil, .duration): return b
    case (.integer(let a)?, .integer(let b)):
      let (sum, overflow) = a.addingReportingOverflow(b)
      return overflow ? .number(Double(a) + Double(b)) : .integer(sum)
    case (.duration(let a)?, .duration(let b)):
      return .duration(Int64(clamping: Int128(a) + Int128(b)))
    default: return .number((a?.double ?? 0) + (b.double ?? 0))
    }
  }

  var result: QueryValue {
    guard let total else { return .null }
    guard kind == .avg else { return total }
    if case .duration(let milliseconds) = total {
      let average = (Double(milliseconds) / Double(values)).rounded()
      return .duration(Int64(clamping: Int128(average)))
    }
    return .number((total.double ?? 0) / Double(values))
  }
}
