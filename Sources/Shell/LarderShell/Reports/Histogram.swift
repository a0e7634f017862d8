import Larder
import ShellLanguage

/// The number of entries in each range (bin) of a measure, such as the size. The bounds of the bins are round numbers.
struct Histogram {
  enum Measure: String, CaseIterable {
    case sizes, expiry, age, idle

    /// The names of the measures. `size` is accepted as another name of `sizes`.
    static let words = allCases.map(\.rawValue) + ["size"]

    init?(word: String) { self.init(rawValue: word == "size" ? "sizes" : word) }

    /// The value in bytes or milliseconds; nil for the expiry of an entry that never expires.
    func value(of entry: Store.Entry, now: UnixTime) -> Int64? {
      switch self {
      case .sizes: Int64(entry.size)
      case .expiry: entry.expires.map { max($0.unix.since(now), 0) }
      case .age: max(now.since(entry.written.unix), 0)
      case .idle: max(now.since(entry.lastUse.unix), 0)
      }
    }

    var isSize: Bool { self == .sizes }

    func words(_ value: Int64) -> String {
      isSize ? Wording.size(Int(clamping: value)) : value == 0 ? "0" : Wording.span(value)
    }
  }

  private struct Bin {
    /// The bounds in bytes or milliseconds, without `to` itself. Nil for the entries that never expire.
    var bounds: (from: Int64, to: Int64)?
    var tally = Tally()
  }

  private let measure: Measure
  private var bins: [Bin]
  private var never = Bin()

  init(_ measure: Measure, over range: ClosedRange<Int64>?, bins: Int, isLogarithmic: Bool) {
    self.measure = measure
    let bounds =
      range.map { range in
        isLogarithmic
          ? Self.growing(range, bins, measure.isSize) : Self.even(range, bins, measure.isSize)
      } ?? [0, 1]
    self.bins = zip(bounds, bounds.dropFirst()).map { Bin(bounds: (from: $0, to: $1)) }
  }

  /// Counts an entry. An entry that was written after the choice of the bounds may be outside. If so, the nearest bin counts it.
  mutating func add(_ entry: Store.Entry, now: UnixTime) {
    guard let value = measure.value(of: entry, now: now) else { return never.tally.add(entry) }
    bins[bins.lastIndex { $0.bounds!.from <= value } ?? 0].tally.add(entry)
  }

  /// The bins of an answer. Round bounds can cause empty bins at both ends, so these bins are omitted.
  private var shown: [Bin] {
    let used = bins.indices.filter { bins[$0].tally.entries > 0 }
    let middle = used.isEmpty ? [] : bins[used[0]...used[used.count - 1]]
    return middle + (never.tally.entries > 0 ? [never] : [])
  }

  private static func even(_ range: ClosedRange<Int64>, _ bins: Int, _ isSize: Bool) -> [Int64] {
    guard bins > 1 else { return [range.lowerBound, range.upperBound + 1] }
    let span = range.upperBound - range.lowerBound
    var width = roundStep(max(span / Int64(bins), 1), isSize)
    while range.upperBound / width - range.lowerBound / width >= Int64(bins) {
      width = roundStep(width + 1, isSize)
    }
    let first = range.lowerBound / width
    let last = range.upperBound / width + 1
    return (first...last).map { Int64(clamping: Int128($0) * Int128(width)) }
  }

  /// Bounds that grow by a factor: the smallest factor that gives at most `bins` bins. If no factor gives so few, a single bin.
  private static func growing(_ range: ClosedRange<Int64>, _ bins: Int, _ isSize: Bool) -> [Int64] {
    for factor: Int64 in [2, 4, 10, 100, 1000, 1_000_000] {
      var bounds: [Int64] = [0, isSize ? 1 : 1000]
      while let last = bounds.last, last <= range.upperBound, last < .max {
        bounds.append(Int64(clamping: Int128(last) * Int128(factor)))
      }
      let used = bounds[(bounds.lastIndex { $0 <= range.lowerBound } ?? 0)...]
      if used.count - 1 <= bins { return Array(used) }
    }
    return [range.lowerBound, range.upperBound == .max ? .max : range.upperBound + 1]
  }

  private static func roundStep(_ least: Int64, _ isSize: Bool) -> Int64 {
    if !isSize {
      let seconds: [Int64] = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200,
        86_400, 172_800, 604_800, 1_209_600, 2_592_000, 7_776_000, 31_536_000,
      ]
      if let step = seconds.first(where: { $0 * 1000 >= least }) { return step * 1000 }
    }
    var power: Int128 = 1
    while true {
      for step in [power, 2 * power, 5 * power] where step >= least { return Int64(clamping: step) }
      power *= 10
    }
  }

  var rows: [(label: String, count: Int)] {
    shown.map { bin in
      let label = bin.bounds.map { "\(measure.words($0.from)) \u{2013} \(measure.words($0.to))" }
      return (label: label ?? "never", count: bin.tally.entries)
    }
  }

  var reply: Reply {
    let cells = shown.map { bin -> [Cell] in
      [
        .optional(bin.bounds?.from, cell), .optional(bin.bounds?.to, cell),
        .number(bin.tally.entries), .size(bin.tally.bytes),
      ]
    }
    return Reply(.rows(["from", "to", "entries", "bytes"], cells), in: [.table: .chart(rows)])
  }

  private func cell(_ bound: Int64) -> Cell {
    measure.isSize ? .size(Int(clamping: bound)) : .span(bound)
  }
}
