/// How long after its expiry a stale value may be returned, and in which cases. RFC 5861 defines the two windows.
public struct Staleness: Hashable, Sendable {
  /// The time after the expiry in which a read returns the value immediately and loads a newer value in the background.
  public var whileRevalidating: Duration
  /// The time after the expiry in which a read returns the value if the load fails.
  public var onError: Duration

  /// Makes both windows, which begin at the expiry. Zero means no window.
  public init(whileRevalidating: Duration = .zero, onError: Duration = .zero) {
    self.whileRevalidating = whileRevalidating
    self.onError = onError
  }

  package var longest: Duration { max(whileRevalidating, onError) }
}

/// Whether a request reads the store, asks the origin, or both.
public enum RequestPolicy: String, Sendable, Codable, CaseIterable {
  /// Returns a fresh value, or a stale value within its windows. Otherwise loads the value.
  case standard
  /// Returns a stored value, fresh or stale. Loads only if no value is stored, or in advance for ``LoadOptions/refreshAhead``.
  case cacheElseLoad
  /// Returns a stored value, fresh or stale. Loads nothing.
  case cacheOnly
  /// Joins a load of the key that already runs, or else runs a load, which gets the stored value.
  case revalidate
  /// Runs a new load, which gets no stored value. The outcome replaces every stored version.
  case reload
}

/// How a value is read, loaded and stored.
public struct LoadOptions: Sendable {
  /// Whether the request reads the store, asks the origin, or both.
  public var policy: RequestPolicy
  /// How long a loaded value stays fresh; nil means the namespace's rule.
  public var expires: Expiration?
  /// How long after its expiry a loaded value may be returned. Nil means the namespace's rule for both windows.
  public var stale: Staleness?
  /// The lifetime of a negative entry, which records that a key has no value; nil stores no negative entry.
  public var absent: Expiration?
  /// If a fresh value expires within this time, a read returns the value, and loads a newer value in the background unless the
  /// handle is read-only. If the value's whole lifetime is not longer than this time, the load begins after half of the
  /// lifetime. Nil means no such load.
  public var refreshAhead: Duration?
  /// How long, by the store's clock, the caller waits for a load before it gets ``LarderError/Code/timedOut``; nil means no
  /// limit. The load continues if other callers wait. Otherwise the load is cancelled.
  public var timeout: Duration?
  /// How long a caller waits for a load if the store has a value that may replace an error. After this time the caller gets the
  /// stored value, with ``LarderError/Code/timedOut`` in ``CacheResult/error``. The load continues in the background and stores
  /// its value. If the store has no such value, or if this property is nil, the caller waits until ``timeout``.
  public var softTimeout: Duration?
  /// How long a load may run in the background while no caller waits for the load.
  public var refreshTimeout: Duration
  /// The tags of a loaded entry; see ``Store/invalidate(tag:)``.
  public var tags: [String]
  /// The owners of a loaded entry.
  public var owners: [Owner]
  /// Whether a load returns only after its commit has succeeded or failed. Time limits include the commit only if too many wait.
  public var waitsForCommit: Bool
  /// Receives the errors of background loads and of the commits of loaded values.
  public var onBackgroundError: (@Sendable (any Error) -> Void)?

  /// Whether a negative entry is no answer, because the closure of the load always returns a value.
  var needsValue = false
  /// Whether a request with the policy `standard` waits for the refresh of a value. A prefetch sets this property.
  var requiresFresh = false
  /// Whether only one process of the machine loads a key at a time. If false, the shared tier chooses the loading process.
  package var takesLease = true

  /// Makes load options. The defaults are those of ``Cache/value(for:expires:stale:load:)``.
  public init(
    policy: RequestPolicy = .standard, expires: Expiration? = nil, stale: Staleness? = nil,
    absent: Expiration? = nil, refreshAhead: Duration? = nil, timeout: Duration? = nil,
    softTimeout: Duration? = nil, refreshTimeout: Duration = .seconds(15), tags: [String] = [],
    owners: [Owner] = [],
    waitsForCommit: Bool = false, onBackgroundError: (@Sendable (any Error) -> Void)? = nil
  ) {
    self.policy = policy
    self.expires = expires
    self.stale = stale
    self.absent = absent
    self.refreshAhead = refreshAhead
    self.timeout = timeout
    self.softTimeout = softTimeout
    self.refreshTimeout = refreshTimeout
    self.tags = tags
    self.owners = owners
    self.waitsForCommit = waitsForCommit
    self.onBackgroundError = onBackgroundError
  }
}
