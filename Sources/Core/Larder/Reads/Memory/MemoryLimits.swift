/// The limits of the decoded values in memory, for a cache and all caches that share its values. Nil means no limit. The limits
/// hold after every operation, separately in each process.
public struct MemoryLimits: Hashable, Sendable {
  /// The largest total cost of all values: bytes of the encoded values, or the costs of the cache's cost function.
  public var cost: Int?
  /// The largest number of values.
  public var entries: Int?
  /// The longest time for which a value is returned from memory before it is decoded again; nil means no limit.
  ///
  /// Values in memory are current even without this limit. Use the limit for values that age while the entry does not change. If
  /// the clock is set back, the lifetime is longer.
  public var lifetime: Duration?

  /// Makes limits of cost, number and lifetime. Nil means no limit.
  public init(cost: Int? = nil, entries: Int? = nil, lifetime: Duration? = nil) {
    self.cost = cost
    self.entries = entries
    self.lifetime = lifetime
  }

  /// 16 MB of encoded values, and 10,000 values. In addition, all caches of a store share the limit ``StoreLimits/memory``.
  ///
  /// A decoded value may need several times the bytes of its JSON, and some hundreds of bytes more.
  public static let `default` = MemoryLimits(cost: 16_000_000, entries: 10_000)

  /// Keeps no values in memory, so each read decodes its value.
  public static let off = MemoryLimits(cost: 0, entries: 0)

  var capacity: MemoryUsage {
    MemoryUsage(cost: max(0, cost ?? .max), entries: max(0, entries ?? .max))
  }

  /// The end of the lifetime of a value that is decoded at `now`, in milliseconds since 1970.
  func end(from now: Int64) -> Int64 {
    lifetime.map { Timestamp(milliseconds: now).advanced(by: $0).milliseconds } ?? .max
  }
}

/// The memory that decoded values use, or the limit of this memory.
public struct MemoryUsage: Hashable, Sendable {
  /// The bytes of the encoded values, or the sum of the costs from the cache's cost function.
  public var cost: Int = 0
  /// The number of values.
  public var entries: Int = 0

  func holds(_ usage: MemoryUsage) -> Bool { usage.cost <= cost && usage.entries <= entries }

  /// The fraction of this capacity that `usage` needs: the larger of the fractions of cost and of number.
  func share(of usage: MemoryUsage) -> Double {
    max(Double(usage.cost) / Double(max(cost, 1)), Double(usage.entries) / Double(max(entries, 1)))
  }

  /// A fraction of cost and number; `fraction` is clamped to 0...1.
  func scaled(by fraction: Double) -> MemoryUsage {
    let fraction = fraction.isNaN ? 0 : min(max(fraction, 0), 1)
    return MemoryUsage(
      cost: Int(Int64(saturating: Double(cost) * fraction)),
      entries: Int(Int64(saturating: Double(entries) * fraction)))
  }

  static func + (left: Self, right: Self) -> Self {
    MemoryUsage(
      cost: left.cost.saturatingAdding(right.cost),
      entries: left.entries.saturatingAdding(right.entries))
  }

  static func += (left: inout Self, right: Self) { left = left + right }

  static func -= (left: inout Self, right: Self) {
    left.cost -= right.cost
    left.entries -= right.entries
  }
}
