/// How much a namespace may hold; nil where it has no limit of its own.
///
/// A limit holds after every commit, for every process. Lowering one removes what is too much before the call returns.
public struct Limits: Hashable, Sendable, Codable {
  /// Entries stored, expired ones included. 0 keeps nothing: every write is refused.
  public var entries: Int?
  /// Bytes of their values.
  public var bytes: Int?

  public init(entries: Int? = nil, bytes: Int? = nil) {
    self.entries = entries
    self.bytes = bytes
  }

  /// In an override: there is no limit, whatever code declared.
  public static let unlimited = Int.max

  /// These limits with an operator's over them.
  func overridden(by overrides: Limits) -> Limits {
    Limits(
      entries: Self.overridden(entries, by: overrides.entries),
      bytes: Self.overridden(bytes, by: overrides.bytes))
  }

  static func overridden(_ declared: Int?, by override: Int?) -> Int? {
    override == unlimited ? nil : override ?? declared
  }

  func validate() throws(LarderError) {
    try Self.validate(entries, "entries")
    try Self.validate(bytes, "bytes")
  }

  static func validate(_ limit: Int?, _ what: String) throws(LarderError) {
    if let limit, limit < 0 {
      throw LarderError(
        .invalidArgument, "a limit of \(limit) \(what) is not possible", hint: "say 0 or more")
    }
  }
}

/// What happens when a namespace is full.
public enum Eviction: String, Hashable, Sendable, Codable, CaseIterable {
  /// What is used least, and not again soon, gives way; see `Docs/Eviction.md`.
  case adaptive
  /// What was written first gives way. An overwrite counts as writing.
  case fifo
  /// Nothing gives way: a write that finds no room is an error.
  case refuse
}

/// Which namespaces give way first when the store as a whole is full.
public enum Priority: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
  case low, normal, high

  public static func < (left: Self, right: Self) -> Bool {
    allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
  }
}

extension Int {
  /// So many times 1,000 bytes.
  public static func kilobytes(_ count: Int) -> Int { count * 1_000 }
  /// So many times 1,000,000 bytes.
  public static func megabytes(_ count: Int) -> Int { count * 1_000_000 }
  /// So many times 1,000,000,000 bytes.
  public static func gigabytes(_ count: Int) -> Int { count * 1_000_000_000 }
}
