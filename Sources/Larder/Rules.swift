/// What holds for every entry of a namespace, kept in the store so that each process and the shell obey it.
public struct Rules: Hashable, Sendable, Codable {
  /// How long an entry is fresh when its write does not say: its soft lifetime.
  public var expires: Expiration
  /// For how long after that it is kept to be served stale; zero by default. Then it is gone: its hard lifetime.
  public var stale: Duration
  /// The part of an ``Expiration/after(_:)`` above, 0 to 1, that may be taken from each entry's lifetime, so that what was
  /// written together does not end together: at 0.1 an hour becomes 54 to 60 minutes. Nothing outlives its rule.
  ///
  /// How much depends on the key and the version alone. A lifetime that a write says itself is kept exactly.
  public var jitter: Double
  /// How much the namespace may hold.
  public var limits: Limits
  /// What happens when it is full.
  public var eviction: Eviction
  /// Whether it gives way before others when the store is full.
  public var priority: Priority
  /// The largest value accepted, in bytes; 64 MB by default, at most 1 GiB.
  public var largestValue: Int

  public static let defaultLargestValue = 64_000_000
  public static let largestPossibleValue = 1 << 30

  public init(
    expires: Expiration = .never, stale: Duration = .zero, jitter: Double = 0,
    limits: Limits = Limits(), eviction: Eviction = .adaptive, priority: Priority = .normal,
    largestValue: Int = Rules.defaultLargestValue
  ) {
    self.expires = expires
    self.stale = stale
    self.jitter = jitter
    self.limits = limits
    self.eviction = eviction
    self.priority = priority
    self.largestValue = largestValue
  }

  private enum CodingKeys: String, CodingKey {
    case expires, stale, jitter, limits, eviction, priority, largestValue
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    expires = try container.decodeIfPresent(Expiration.self, forKey: .expires) ?? .never
    stale = .milliseconds(try container.decodeIfPresent(Int64.self, forKey: .stale) ?? 0)
    jitter = try container.decodeIfPresent(Double.self, forKey: .jitter) ?? 0
    limits = try container.decodeIfPresent(Limits.self, forKey: .limits) ?? Limits()
    eviction = try container.decodeIfPresent(Eviction.self, forKey: .eviction) ?? .adaptive
    priority = try container.decodeIfPresent(Priority.self, forKey: .priority) ?? .normal
    largestValue =
      try container.decodeIfPresent(Int.self, forKey: .largestValue) ?? Self.defaultLargestValue
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(expires, forKey: .expires)
    if stale != .zero { try container.encode(stale.milliseconds, forKey: .stale) }
    if jitter != 0 { try container.encode(jitter, forKey: .jitter) }
    if limits != Limits() { try container.encode(limits, forKey: .limits) }
    if eviction != .adaptive { try container.encode(eviction, forKey: .eviction) }
    if priority != .normal { try container.encode(priority, forKey: .priority) }
    if largestValue != Self.defaultLargestValue {
      try container.encode(largestValue, forKey: .largestValue)
    }
  }

  /// As the store keeps them: otherwise rules with finer times would look changed at every write.
  var inMilliseconds: Rules {
    var rules = self
    rules.expires = expires.inMilliseconds
    rules.stale = .milliseconds(stale.milliseconds)
    return rules
  }

  func validate() throws(LarderError) {
    guard (1...Self.largestPossibleValue).contains(largestValue) else {
      throw LarderError(
        .invalidArgument, "a largest value of \(largestValue) bytes is not possible",
        hint: "say 1 to \(Self.largestPossibleValue) bytes (1 GiB)")
    }
    try limits.validate()
    try validateTimes()
  }

  /// What an operator has put in place of a declared rule; nil leaves the declared one.
  public struct Overrides: Hashable, Sendable, Codable {
    public var expires: Expiration?
    public var stale: Duration? {
      get { staleMilliseconds.map { .milliseconds($0) } }
      set { staleMilliseconds = newValue?.milliseconds }
    }
    private var staleMilliseconds: Int64?
    public var jitter: Double?
    /// Limit by limit; ``Limits/unlimited`` lifts one that code declared.
    public var limits: Limits?
    public var eviction: Eviction?
    public var priority: Priority?
    public var largestValue: Int?

    public init(
      expires: Expiration? = nil, stale: Duration? = nil, jitter: Double? = nil,
      limits: Limits? = nil, eviction: Eviction? = nil, priority: Priority? = nil,
      largestValue: Int? = nil
    ) {
      self.expires = expires
      staleMilliseconds = stale?.milliseconds
      self.jitter = jitter
      self.limits = limits
      self.eviction = eviction
      self.priority = priority
      self.largestValue = largestValue
    }

    private enum CodingKeys: String, CodingKey {
      case expires
      case staleMilliseconds = "stale"
      case jitter, limits, eviction, priority, largestValue
    }

    public var isEmpty: Bool { self == Overrides() }

    var inMilliseconds: Overrides {
      var overrides = self
      overrides.expires = expires?.inMilliseconds
      return overrides
    }

    func applied(to declared: Rules) -> Rules {
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
