/// How long after its expiry a value may be served, and in which cases. RFC 5861 defines the two windows.
public struct Staleness: Hashable, Sendable {
  /// The time after the expiry in which the value is served at once, while a newer value is loaded in the background.
  public var whileRevalidating: Duration
  /// The time after the expiry in which the value is served if the load fails.
  public var onError: Duration

  /// Both windows, each counted from the expiry. Zero means no window.
  public init(whileRevalidating: Duration = .zero, onError: Duration = .zero) {
    self.whileRevalidating = whileRevalidating
    self.onError = onError
  }

  package var longest: Duration { max(whileRevalidating, onError) }
}

/// Whether a request reads the store, asks the origin, or both.
public enum RequestPolicy: String, Sendable, Codable, CaseIterable {
  /// A fresh value is used, and a stale value within its windows. Otherwise the value is loaded.
  case standard
  /// A stored value is used, fresh or stale; only a miss is loaded.
  case cacheElseLoad
  /// A stored value is used, fresh or stale; nothing is loaded.
  case cacheOnly
  /// A load runs and receives the stored value. The caller joins a load of the key that is under way.
  case revalidate
  /// A new load runs and receives no stored value. Its outcome replaces every stored version.
  case reload
}

/// How a value is read, loaded and stored.
public struct LoadOptions: Sendable {
  /// Whether the request reads the store, asks the origin, or both.
  public var policy: RequestPolicy
  /// How long a loaded value stays fresh; nil takes the namespace's rule.
  public var expires: Expiration?
  /// How long a loaded value may be served after its expiry; nil takes the namespace's rule for both windows.
  public var stale: Staleness?
  /// The lifetime of a negative entry, which records that a key has no value; nil stores no negative entry.
  public var absent: Expiration?
  /// A fresh value whose lifetime ends within this time is returned, and a newer value is loaded in the background. If the
  /// whole lifetime is not longer than this time, that load begins after half of the lifetime. Nil means that no load
  /// begins before the expiry.
  public var refreshAhead: Duration?
  /// How long the caller waits for a load, by the store's clock, before it gets ``LarderError/Code/timedOut``; nil means no
  /// limit. The load continues for other callers. Without other callers it is cancelled.
  public var timeout: Duration?
  /// How long a caller waits for a load if the store has a value that may be served on an error. After this time the caller
  /// gets the stored value, with ``LarderError/Code/timedOut`` in ``CacheResult/error``. The load continues in the background
  /// and stores its value. Without such a stored value, or if this property is nil, the caller waits until
  /// ``timeout``.
  public var softTimeout: Duration?
  /// How long a load in the background may take while no caller waits for it.
  public var refreshTimeout: Duration
  /// The tags of a loaded entry; see ``Store/invalidate(tag:)``.
  public var tags: [String]
  /// The owners of a loaded entry.
  public var owners: [Owner]
  /// Whether a loaded value is returned only after its commit has succeeded or failed. If this is false, the value is returned
  /// at once. Its commit follows in the background, in order and before any later write of this process.
  public var waitsForCommit: Bool
  /// Receives the errors of background loads and of the commits of loaded values.
  public var onBackgroundError: (@Sendable (any Error) -> Void)?

  /// Whether a request with the standard policy waits for the load of a value that needs a refresh, as in a prefetch.
  var requiresFresh = false
  /// Whether the processes of the machine take turns to load a key; false if another rule chooses the loading process.
  package var takesLease = true

  /// Load options with the defaults of ``Cache/value(for:expires:stale:load:)``.
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

  func attributes(codec: CodecID) -> EntryAttributes {
    var attributes = EntryAttributes(codec: codec, expires: expires)
    attributes.stale = stale?.longest
    attributes.tags = tags
    attributes.owners = owners
    return attributes
  }
}
