/// The limits of a namespace; nil means no limit.
///
/// The usage is within the limits after every commit. A call that lowers a limit evicts the surplus before it returns.
public struct Limits: Hashable, Sendable, Codable {
  /// The number of entries, including expired entries that are not removed yet. With 0 every write is refused.
  public var entries: Int?
  /// The bytes of the entries' values, without keys and metadata.
  public var bytes: Int?
  /// The bytes of values that writes of other namespaces cannot evict when the store is full; nil for none.
  ///
  /// The namespace's own limits and writes can still evict these bytes, and entries can still expire. An eviction in another
  /// namespace does not happen if it would remove guaranteed bytes through owners or dependents. The sum of the guarantees of
  /// all namespaces must not exceed the store's limits of bytes and disk. An override of ``bytes`` lowers a larger guarantee.
  public var guaranteed: Int?

  package enum CodingKeys: String, CodingKey, CaseIterable { case entries, bytes, guaranteed }

  /// Makes limits; nil means no limit.
  public init(entries: Int? = nil, bytes: Int? = nil, guaranteed: Int? = nil) {
    self.entries = entries
    self.bytes = bytes
    self.guaranteed = guaranteed
  }

  /// As an override, removes the declared limit.
  public static let unlimited = Int.max

  /// If only one of `bytes` and `guaranteed` has an override, the guarantee is at most `bytes`. Otherwise code that does not
  /// know the override could declare limits that contradict it, and then each write of this code would fail.
  func overridden(by overrides: Limits) -> Limits {
    let bytes = Self.overridden(bytes, by: overrides.bytes)
    let own = Self.overridden(guaranteed, by: overrides.guaranteed)
    let isLowered = (overrides.bytes == nil) != (overrides.guaranteed == nil)
    return Limits(
      entries: Self.overridden(entries, by: overrides.entries), bytes: bytes,
      guaranteed: isLowered ? own.map { min($0, bytes ?? .max) } : own)
  }

  static func overridden(_ declared: Int?, by override: Int?) -> Int? {
    override == unlimited ? nil : override ?? declared
  }

  func validate() throws(LarderError) {
    try Self.validate(entries, "entries")
    try Self.validate(bytes, "bytes")
    try Self.validate(guaranteed, "guaranteed bytes")
    if let guaranteed, let bytes, guaranteed > bytes {
      throw LarderError(
        .invalidArgument,
        "a namespace of at most \(bytes) bytes cannot have \(guaranteed) guaranteed",
        hint: "guarantee no more than its limit of bytes")
    }
  }

  static func validate(_ limit: Int?, _ what: String) throws(LarderError) {
    if let limit, limit < 0 {
      throw .impossible("a limit of \(limit) \(what)", hint: "say 0 or more")
    }
  }
}

/// How a full namespace makes room.
public enum Eviction: String, Hashable, Sendable, Codable, CaseIterable {
  /// Evicts the entries that were used least recently and least often; see `Docs/Internals/Eviction.md`.
  case adaptive
  /// Evicts the entry that was written first. An overwrite counts as a write.
  case fifo
  /// Evicts nothing. A write for which there is no room throws ``LarderError/Code/full``.
  case refuse
}

/// The order in which namespaces evict when the whole store is full. Namespaces of the lowest priority evict first.
public enum Priority: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
  /// Evicts before `normal` and `high`.
  case low
  /// The priority of a namespace for which no rule sets a priority.
  case normal
  /// Evicts last.
  case high

  /// Whether a namespace with the priority `left` evicts before a namespace with the priority `right`.
  public static func < (left: Self, right: Self) -> Bool {
    allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
  }
}

extension Int {
  /// `count` times 1,000 bytes.
  public static func kilobytes(_ count: Int) -> Int { count.saturatingTimes(1_000) }
  /// `count` times 1,000,000 bytes.
  public static func megabytes(_ count: Int) -> Int { count.saturatingTimes(1_000_000) }
  /// `count` times 1,000,000,000 bytes.
  public static func gigabytes(_ count: Int) -> Int { count.saturatingTimes(1_000_000_000) }
}
