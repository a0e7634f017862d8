/// What holds for every entry of a namespace, kept in the store so that each process and the shell obey it.
public struct Rules: Hashable, Sendable, Codable {
  /// How long an entry stays when its write does not say.
  public var expires: Expiration
  /// For how long after its expiry an entry is kept to be served stale; zero by default.
  public var stale: Duration
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
    expires: Expiration = .never, stale: Duration = .zero, limits: Limits = Limits(),
    eviction: Eviction = .adaptive, priority: Priority = .normal,
    largestValue: Int = Rules.defaultLargestValue
  ) {
    self.expires = expires
    self.stale = stale
    self.limits = limits
    self.eviction = eviction
    self.priority = priority
    self.largestValue = largestValue
  }

  private enum CodingKeys: String, CodingKey {
    case expires, stale, limits, eviction, priority, largestValue
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    expires = try container.decodeIfPresent(Expiration.self, forKey: .expires) ?? .never
    stale = .milliseconds(try container.decodeIfPresent(Int64.self, forKey: .stale) ?? 0)
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
    if case .after(let lifetime) = expires, lifetime < .zero {
      throw LarderError(
        .invalidArgument, "a lifetime of \(lifetime) is not possible", hint: "say zero or more")
    }
    guard stale >= .zero else {
      throw LarderError(
        .invalidArgument, "a stale window of \(stale) is not possible", hint: "say zero or more")
    }
  }

  /// What an operator has put in place of a declared rule; nil leaves the declared one.
  public struct Overrides: Hashable, Sendable, Codable {
    public var expires: Expiration?
    /// Limit by limit; ``Limits/unlimited`` lifts one that code declared.
    public var limits: Limits?
    public var eviction: Eviction?
    public var priority: Priority?
    public var largestValue: Int?

    public init(
      expires: Expiration? = nil, limits: Limits? = nil, eviction: Eviction? = nil,
      priority: Priority? = nil, largestValue: Int? = nil
    ) {
      self.expires = expires
      self.limits = limits
      self.eviction = eviction
      self.priority = priority
      self.largestValue = largestValue
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
      if let limits { rules.limits = declared.limits.overridden(by: limits) }
      if let eviction { rules.eviction = eviction }
      if let priority { rules.priority = priority }
      if let largestValue { rules.largestValue = largestValue }
      return rules
    }
  }
}
