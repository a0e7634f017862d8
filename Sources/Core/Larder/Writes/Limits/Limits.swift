/// The limits of a namespace; nil stands for no limit.
///
/// A limit is exact after every commit of any process. A lower limit evicts the surplus before the call returns.
public struct Limits: Hashable, Sendable, Codable {
  /// Entries, including expired entries that are not removed yet. With 0 every write is refused.
  public var entries: Int?
  /// Bytes of the entries' values, without keys and metadata.
  public var bytes: Int?
  /// Bytes of values that the namespace never loses to writes of other namespaces in a full store; nil for no such bytes.
  ///
  /// The namespace's own limits and writes still evict from these bytes, and entries expire. An eviction elsewhere is not made
  /// if it would also remove such bytes through owners or dependents. The guarantees of all namespaces together must fit into
  /// the store's limits of bytes and disk.
  public var guaranteed: Int?

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case entries, bytes, guaranteed
  }

  /// Limits; nil for no limit.
  public init(entries: Int? = nil, bytes: Int? = nil, guaranteed: Int? = nil) {
    self.entries = entries
    self.bytes = bytes
    self.guaranteed = guaranteed
  }

  /// In an override, lifts the declared limit.
  public static let unlimited = Int.max

  /// These limits; each override replaces its limit.
  func overridden(by overrides: Limits) -> Limits {
    Limits(
      entries: Self.overridden(entries, by: overrides.entries),
      bytes: Self.overridden(bytes, by: overrides.bytes),
      guaranteed: Self.overridden(guaranteed, by: overrides.guaranteed))
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
      throw LarderError(
        .invalidArgument, "a limit of \(limit) \(what) is not possible", hint: "say 0 or more")
    }
  }
}

/// The way in which a full namespace makes room.
public enum Eviction: String, Hashable, Sendable, Codable, CaseIterable {
  /// Evicts the entries with the least recent and frequent use; see `Docs/Internals/Eviction.md`.
  case adaptive
  /// Evicts the entry that was written first. An overwrite counts as a write.
  case fifo
  /// Evicts nothing: a write without room throws ``LarderError/Code/full``.
  case refuse
}

/// The order in which namespaces evict when the whole store is full: namespaces of the lowest priority first.
public enum Priority: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
  /// Evicts before `normal` and `high`.
  case low
  /// The priority of a namespace without a rule.
  case normal
  /// Evicts last.
  case high

  /// Whether a namespace with the left priority evicts before a namespace with the right priority.
  public static func < (left: Self, right: Self) -> Bool {
    allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
  }
}

extension Int {
  /// `count` times 1,000 bytes.
  public static func kilobytes(_ count: Int) -> Int { times(count, 1_000) }
  /// `count` times 1,000,000 bytes.
  public static func megabytes(_ count: Int) -> Int { times(count, 1_000_000) }
  /// `count` times 1,000,000,000 bytes.
  public static func gigabytes(_ count: Int) -> Int { times(count, 1_000_000_000) }

  private static func times(_ count: Int, _ unit: Int) -> Int {
    let (bytes, overflow) = count.multipliedReportingOverflow(by: unit)
    return overflow ? (count < 0 ? .min : .max) : bytes
  }
}
