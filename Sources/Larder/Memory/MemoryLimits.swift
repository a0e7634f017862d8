/// How much of a namespace is kept in memory as decoded values; nil where there is no limit.
///
/// The limits hold after every operation, for each process by itself.
public struct MemoryLimits: Hashable, Sendable {
  /// What the values may cost together: bytes of their encoded form, unless the cache was given a cost of its own. A
  /// value that costs more is not kept.
  public var cost: Int?
  /// How many values.
  public var entries: Int?
  /// The longest a value is given from memory before it is decoded anew; nil for as long as it is current.
  ///
  /// What is given is current whatever is said here. It bounds the life of what hangs on a value, such as an image.
  public var lifetime: Duration?

  public init(cost: Int? = nil, entries: Int? = nil, lifetime: Duration? = nil) {
    self.cost = cost
    self.entries = entries
    self.lifetime = lifetime
  }

  /// 16 MB of encoded values and 10,000 of them.
  ///
  /// Enough for what an application shows and asks for again within minutes, and little enough to have ten such caches
  /// in a process nobody sized: a decoded value can take several times its bytes as JSON, and each some hundreds of bytes
  /// of upkeep. All caches of a store share its ``StoreLimits/memory`` besides.
  public static let `default` = MemoryLimits(cost: 16_000_000, entries: 10_000)

  /// Nothing is kept: each read decodes.
  public static let off = MemoryLimits(cost: 0, entries: 0)

  var capacity: MemoryUsage {
    MemoryUsage(cost: max(0, cost ?? .max), entries: max(0, entries ?? .max))
  }

  /// The end of the life in memory of what is decoded at `now`.
  func end(from now: Int64) -> Int64 {
    lifetime.map { Timestamp(milliseconds: now).advanced(by: $0).milliseconds } ?? .max
  }
}

/// What decoded values take, or may take, in memory.
public struct MemoryUsage: Hashable, Sendable {
  public var cost: Int
  public var entries: Int

  public init(cost: Int = 0, entries: Int = 0) {
    self.cost = cost
    self.entries = entries
  }

  /// Whether this, as a capacity, has room for so much.
  func holds(_ usage: MemoryUsage) -> Bool { usage.cost <= cost && usage.entries <= entries }

  /// Which part of this, as a capacity, so much takes; by cost or by count, whichever is more.
  func share(of usage: MemoryUsage) -> Double {
    max(
      Double(usage.cost) / Double(max(cost, 1)), Double(usage.entries) / Double(max(entries, 1)))
  }

  /// So large a part of both.
  func scaled(by fraction: Double) -> MemoryUsage {
    let fraction = fraction.isNaN ? 0 : min(max(fraction, 0), 1)
    return MemoryUsage(
      cost: Int(Double(cost) * fraction), entries: Int(Double(entries) * fraction))
  }

  /// The smaller of each.
  func limited(to other: MemoryUsage) -> MemoryUsage {
    MemoryUsage(cost: min(cost, other.cost), entries: min(entries, other.entries))
  }

  static func + (left: Self, right: Self) -> Self {
    MemoryUsage(
      cost: left.cost.saturatingAdding(right.cost),
      entries: left.entries.saturatingAdding(right.entries))
  }

  static func - (left: Self, right: Self) -> Self {
    MemoryUsage(cost: left.cost - right.cost, entries: left.entries - right.entries)
  }

  static func += (left: inout Self, right: Self) { left = left + right }
  static func -= (left: inout Self, right: Self) { left = left - right }
}

extension Int {
  func saturatingAdding(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }
}
