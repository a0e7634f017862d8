/// For how long after its freshness a value may be served, and when; RFC 5861 has the same two windows.
public struct Staleness: Hashable, Sendable {
  /// At once, while a newer one is fetched in the background.
  public var whileRevalidating: Duration
  /// When loading fails.
  public var onError: Duration

  public init(whileRevalidating: Duration = .zero, onError: Duration = .zero) {
    self.whileRevalidating = whileRevalidating
    self.onError = onError
  }

  public static let never = Staleness()

  public static func whileRevalidating(_ window: Duration) -> Staleness {
    Staleness(whileRevalidating: window)
  }

  public static func onError(_ window: Duration) -> Staleness { Staleness(onError: window) }

  public func onError(_ window: Duration) -> Staleness {
    Staleness(whileRevalidating: whileRevalidating, onError: window)
  }

  public func whileRevalidating(_ window: Duration) -> Staleness {
    Staleness(whileRevalidating: window, onError: onError)
  }

  /// How long the entry has to be kept for that.
  var longest: Duration { max(whileRevalidating, onError) }
}

/// What is asked: the cache, the origin, or both.
public enum RequestPolicy: String, Sendable, Codable, CaseIterable {
  /// By the lifetimes: a fresh value is used, a stale one within its windows, anything else is loaded.
  case standard
  /// Whatever is stored is used, be it stale; only a miss is loaded.
  case cacheElseLoad
  /// Whatever is stored is used, be it stale; nothing is ever loaded.
  case cacheOnly
  /// The origin is asked whether what is stored is still right; a load under way will do.
  case revalidate
  /// The value is loaded whatever is stored and whatever is under way, as if nothing was known.
  case reload
}

/// How a value that is asked for is found, loaded and kept.
public struct LoadOptions: Sendable {
  public var policy: RequestPolicy
  /// How long what is loaded stays fresh; nil: the namespace's rule.
  public var expires: Expiration?
  /// The windows after that; nil: both as long as the namespace's rule says, and the entry itself is kept.
  public var stale: Staleness?
  /// For how long it is known that there is nothing, when a load finds so; nil: that is not kept.
  public var absent: Expiration?
  /// A fresh value with less than this left of its lifetime is used, and a newer one fetched in the background.
  public var refreshAhead: Duration?
  /// How long a load may take before it has failed; nil: as long as it likes.
  public var timeout: Duration?
  /// The same for those in the background.
  public var refreshTimeout: Duration
  /// The tags and owners of what is loaded.
  public var tags: [String] = []
  public var owners: [Owner] = []
  /// Told of a load in the background that failed; nobody waits for those.
  public var onRefreshError: (@Sendable (any Error) -> Void)?

  /// Whether nothing but a fresh value will do where one can be loaded, as for a prefetch.
  var waitsForFresh = false

  public init(
    policy: RequestPolicy = .standard, expires: Expiration? = nil, stale: Staleness? = nil,
    absent: Expiration? = nil, refreshAhead: Duration? = nil, timeout: Duration? = nil,
    refreshTimeout: Duration = .seconds(15)
  ) {
    self.policy = policy
    self.expires = expires
    self.stale = stale
    self.absent = absent
    self.refreshAhead = refreshAhead
    self.timeout = timeout
    self.refreshTimeout = refreshTimeout
  }

  func attributes(codec: CodecID) -> EntryAttributes {
    var attributes = EntryAttributes(codec: codec, expires: expires)
    attributes.stale = stale?.longest
    attributes.tags = tags
    attributes.owners = owners
    return attributes
  }
}
