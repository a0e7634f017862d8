import ShellLanguage

/// The sum, smallest, largest or average of the values of an operand.
struct Aggregate {
  enum Kind: String { case sum, min, max, avg }

  private static let mostGroups = 100_000

  private let kind: Kind
  private(set) var values = 0
  /// The number of values that were skipped because of their type.
  private(set) var skipped = 0
  private var total = 0.0
  /// The exact sum of integers, or of durations in milliseconds. Nil for other values, for a mixture of both, and on overflow.
  private var exact: Int128? = 0
  private var isOfTime = false
  private var best: QueryValue?

  init(_ kind: Kind) { self.kind = kind }

  static func check(_ groups: Int) throws(ShellError) {
    guard groups <= mostGroups else {
      throw ShellError(
        .overLimit, "more than \(Wording.count(mostGroups)) groups",
        hint: "select fewer entries, or group by another operand")
    }
  }

  mutating func add(_ value: QueryValue) {
    let number = value.double
    let isSum = kind == .sum || kind == .avg
    guard number != nil || !isSum && value.type == .string else {
      skipped += 1
      return
    }
    if isSum {
      total += number ?? 0
      add(exactly: value)
    } else if best.map({ kind == .min ? value.precedes($0) : $0.precedes(value) }) ?? true {
      best = value
    }
    values += 1
  }

  private mutating func add(exactly value: QueryValue) {
    let part: (amount: Int128, isOfTime: Bool)? =
      switch value {
      case .integer(let integer): (integer, false)
      case .duration(let milliseconds): (Int128(milliseconds), true)
      default: nil
      }
    if values == 0 { isOfTime = part?.isOfTime ?? false }
    guard let sum = exact, let part, part.isOfTime == isOfTime else {
      exact = nil
      return
    }
    let (next, overflow) = sum.addingReportingOverflow(part.amount)
    exact = overflow ? nil : next
  }

  var result: QueryValue {
    guard values > 0 else { return .null }
    switch kind {
    case .sum:
      guard let exact else { return .number(total) }
      return isOfTime ? .duration(Int64(clamping: exact)) : .integer(exact)
    case .avg:
      guard let exact, isOfTime else { return .number(total / Double(values)) }
      return .duration(Int64(clamping: Int128((Double(exact) / Double(values)).rounded())))
    case .min, .max: return best ?? .null
    }
  }
}
