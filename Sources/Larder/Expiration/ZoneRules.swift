import LarderSystem

/// The offset of a time zone from UTC at any time: a table, and a rule for later times.
struct ZoneRules: Sendable, Hashable {
  /// RFC 9636, section 3.2: offsets lie between 25 hours behind UTC and 26 hours ahead of it.
  static let possibleOffsets: ClosedRange<Int64> = -89_999...93_599

  /// Moments in seconds since 1970, in order.
  private let changes: [Int64]
  /// Before the first change, and after each.
  private let offsets: [Int64]
  private let later: YearlyChanges?

  static let utc = ZoneRules(changes: [], offsets: [0], later: nil)

  /// - Precondition: one offset more than changes, which are in order.
  init(changes: [Int64], offsets: [Int64], later: YearlyChanges?) {
    self.changes = changes
    self.offsets = offsets
    self.later = later
  }

  /// Seconds ahead of UTC.
  func offset(at moment: Int64) -> Int64 {
    if let later, changes.last.map({ $0 <= moment }) ?? true { return later.offset(at: moment) }
    return offsets[index(behind: moment)]
  }

  /// The next time at which clocks may change; nil for never.
  func change(after moment: Int64) -> Int64? {
    let index = index(behind: moment)
    return index < changes.count ? changes[index] : later?.change(after: moment)
  }

  /// The index of the first change after a time.
  private func index(behind moment: Int64) -> Int {
    var low = 0
    var high = changes.count
    while low < high {
      let middle = (low + high) / 2
      if changes[middle] <= moment { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
