import LarderSystem

/// The rules of a namespace. The store keeps the rules, so every process and the shell obey the rules.
public struct Rules: Hashable, Sendable, Codable {
  /// The time for which an entry stays fresh if its write sets no expiration (soft lifetime).
  public var expires: Expiration
  /// How long after its expiry a load may return an entry (stale window); zero by default.
  public var stale: Duration
  /// The largest part of ``expires``, 0 to 1, by which the store shortens a lifetime at random: at 0.1, an hour becomes 54 to
  /// 60 minutes. So entries written together do not expire together. The jitter applies to ``Expiration/after(_:)`` only.
  ///
  /// The random part depends only on the key and the entry's version. The store does not shorten a lifetime that a write sets.
  public var jitter: Double
  /// The limits of the namespace.
  public var limits: Limits
  /// Decides which entry is evicted at a limit.
  public var eviction: Eviction
  /// When the store is full, entries of namespaces with a lower priority are evicted first.
  public var priority: Priority
  /// The size in bytes of the largest value that the store accepts; 64 MB by default, at most 1 GiB.
  public var largestValue: Int
  /// The version of the rules; 0 by default. The store ignores a declaration with a lower version than the declared rules, so
  /// an older build of a program does not undo the declaration of a newer build. Of equal versions the last declaration holds.
  public var version: Int

  /// Rules for data of the user that no service can deliver again. Entries never expire, and no limit evicts an entry.
  ///
  /// ``Store/verify()`` warns if an operator's overrides let the store remove entries nevertheless.
  public static let userData = Rules(expires: .never, eviction: .refuse, priority: .high)

  package static let defaultLargestValue = Int.megabytes(64)
  package static let largestPossibleValue = 1 << 30

  /// By default, entries never expire, and only the size of a value is limited.
  public init(
    expires: Expiration = .never, stale: Duration = .zero, jitter: Double = 0,
    limits: Limits = Limits(), eviction: Eviction = .adaptive, priority: Priority = .normal,
    largestValue: Int = .megabytes(64), version: Int = 0
  ) {
    self.expires = expires
    self.stale = stale
    self.jitter = jitter
    self.limits = limits
    self.eviction = eviction
    self.priority = priority
    self.largestValue = largestValue
    self.version = version
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case expires, stale, jitter, limits, eviction, priority, largestValue, version
  }

  /// Decodes rules; a missing rule gets its default.
  public init(from decoder: any Decoder) throws {
    let found = try Overrides(from: decoder)
    self = found.applied(to: Rules())
    limits = found.limits ?? Limits()
    let container = try decoder.container(keyedBy: CodingKeys.self)
    version = try container.decodeIfPresent(Int.self, forKey: .version) ?? 0
  }

  /// Encodes rules. Omits each rule that has its default value, except ``expires``.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(expires, forKey: .expires)
    if stale != .zero { try container.encode(stale.roundedUpMilliseconds, forKey: .stale) }
    if jitter != 0 { try container.encode(jitter, forKey: .jitter) }
    if limits != Limits() { try container.encode(limits, forKey: .limits) }
    if eviction != .adaptive { try container.encode(eviction, forKey: .eviction) }
    if priority != .normal { try container.encode(priority, forKey: .priority) }
    if largestValue != Self.defaultLargestValue {
      try container.encode(largestValue, forKey: .largestValue)
    }
    if version != 0 { try container.encode(version, forKey: .version) }
  }

  /// The rules with times rounded up to milliseconds, as stored, so that rules of code can be compared with stored rules.
  var inMilliseconds: Rules {
    var rules = self
    rules.expires = expires.inMilliseconds
    rules.stale = .milliseconds(stale.roundedUpMilliseconds)
    return rules
  }

  func validate() throws(LarderError) {
    try validateNumbers()
    try expires.validate()
  }

  /// Refuses numbers that are invalid on every machine. Does not check the time zone, because another machine may know the zone.
  func validateNumbers() throws(LarderError) {
    guard (1...Self.largestPossibleValue).contains(largestValue) else {
      throw .impossible(
        "a largest value of \(largestValue) bytes",
        hint: "use 1 to \(Self.largestPossibleValue) bytes (1 GiB)")
    }
    try limits.validate()
    guard stale >= .zero else {
      throw .impossible("a stale window of \(stale)", hint: "use zero or more")
    }
    guard (0...1).contains(jitter) else {
      throw .impossible("a jitter of \(jitter)", hint: "use a part of the lifetime, 0 to 1")
    }
  }

  /// An operator's rules, which replace declared rules. Nil leaves the declared rule in force.
  public struct Overrides: Hashable, Sendable, Codable {
    /// The value in place of ``Rules/expires``.
    public var expires: Expiration?
    /// The value in place of ``Rules/stale``, in whole milliseconds.
    public var stale: Duration? {
      get { staleMilliseconds.map { .milliseconds($0) } }
      set { staleMilliseconds = newValue?.roundedUpMilliseconds }
    }
    private var staleMilliseconds: Int64?
    /// The value in place of ``Rules/jitter``.
    public var jitter: Double?
    /// The values in place of ``Rules/limits``. Nil keeps a declared limit, and ``Limits/unlimited`` removes a declared limit.
    public var limits: Limits?
    /// The value in place of ``Rules/eviction``.
    public var eviction: Eviction?
    /// The value in place of ``Rules/priority``.
    public var priority: Priority?
    /// The value in place of ``Rules/largestValue``.
    public var largestValue: Int?

    /// Makes overrides. Where a rule has no value, the declared rule remains in force.
    public init(
      expires: Expiration? = nil, stale: Duration? = nil, jitter: Double? = nil,
      limits: Limits? = nil, eviction: Eviction? = nil, priority: Priority? = nil,
      largestValue: Int? = nil
    ) {
      self.expires = expires
      staleMilliseconds = stale?.roundedUpMilliseconds
      self.jitter = jitter
      self.limits = limits
      self.eviction = eviction
      self.priority = priority
      self.largestValue = largestValue
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
      case expires
      case staleMilliseconds = "stale"
      case jitter, limits, eviction, priority, largestValue
    }

    /// Whether the overrides replace no declared rule.
    public var isEmpty: Bool { self == Overrides() }

    var inMilliseconds: Overrides {
      var overrides = self
      overrides.expires = expires?.inMilliseconds
      return overrides
    }

    package func applied(to declared: Rules) -> Rules {
      var rules = declared
      if let expires { rules.expires = expires }
      if let stale { rules.stale = stale }
      if let jitter { rules.jitter = jitter }
      if let limits { rules.limits = declared.limits.overridden(by: limits) }
      if let eviction { rules.eviction = eviction }
      if let priority { rules.priority = priority }
      if let largestValue { rules.largestValue = largestValue }
      return rules
    }
  }
}
