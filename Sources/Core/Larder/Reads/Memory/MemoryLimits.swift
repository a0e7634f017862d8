/// The limits of the decoded values in memory, for a cache and all caches that share its values; nil for no limit.
///
/// The limits hold after every operation, separately in each process.
public struct MemoryLimits: Hashable, Sendable {
  /// The largest total cost of the values, and of a value: bytes of the encoded form, unless the cache has a cost function.
  public var cost: Int?
  /// The largest number of values.
  public var entries: Int?
  /// The longest time for which a value is returned from memory before it is decoded again; nil for no bound.
  ///
  /// Values from memory are current without this limit. It limits the age of objects inside a value, such as an image.
  public var lifetime: Duration?

  /// Limits of cost, number and lifetime; nil for no limit.
  public init(cost: Int? = nil, entries: Int? = nil, lifetime: Duration? = nil) {
    self.cost = cost
    self.entries = entries
    self.lifetime = lifetime
  }

  /// 16 MB of encoded values, and 10,000 values.
  ///
  /// Enough for the values that an application shows again within minutes. A decoded value can take several times its bytes as
  /// JSON, and some hundreds of bytes more. All caches of a store also share its ``StoreLimits/memory``.
  public static let `default` = MemoryLimits(cost: 16_000_000, entries: 10_000)

  /// No values are kept: each read decodes its value.
  public static let off = MemoryLimits(cost: 0, entries: 0)

  var capacity: MemoryUsage {
    MemoryUsage(cost: max(0, cost ?? .max), entries: max(0, entries ?? .max))
  }

  /// The end of the lifetime of a value decoded at `now`, in milliseconds since 1970.
  func end(from now: Int64) -> Int64 {
    lifetime.map { Timestamp(milliseconds: now).advanced(by: $0).milliseconds } ?? .max
  }
}

/// The usage of memory by decoded values, or its limit.
public struct MemoryUsage: Hashable, Sendable {
  /// Bytes of the encoded values, or the sum of the costs that the cache gives them.
  public var cost: Int = 0
  /// The number of values.
  public var entries: Int = 0

  func holds(_ usage: MemoryUsage) -> Bool { usage.cost <= cost && usage.entries <= entries }

  /// The fraction of this capacity that `usage` takes: of the cost or of the number, whichever is larger.
  func share(of usage: MemoryUsage) -> Double {
    max(
      Double(usage.cost) / Double(max(cost, 1)), Double(usage.entries) / Double(max(entries, 1)))
  }

  /// A fraction of cost and number; `fraction` is clamped to 0...1.
  func scaled(by fraction: Double) -> MemoryUsage {
    let fraction = fraction.isNaN ? 0 : min(max(fraction, 0), 1)
    return MemoryUsage(
      cost: Int(Int64(saturating: Double(cost) * fraction)),
      entries: Int(Int64(saturating: Double(entries) * fraction)))
  }

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
  package func saturatingAdding(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }
}
