import LarderSystem

/// The outcome of a load, the same for every loading call:
///
///     Loaded(board, expires: .after(.minutes(2)), tags: ["boards"])
public enum Loaded<Value: Sendable>: Sendable {
  /// A value, with attributes of its own. The options supply those that are left out, and the cache its codec.
  case value(Value, EntryAttributes = EntryAttributes())
  /// The stored value is still current, and its lifetime starts again. An error without a stored value.
  case unchanged
  /// The origin has no such value.
  case absent
  /// The load of this key failed, as if its closure had thrown the error.
  case failed(any Error)

  /// A value. ``LoadOptions`` supply the attributes that are left out, else the rules of the namespace.
  ///
  /// - Parameters:
  ///   - expires: how long it stays fresh.
  ///   - stale: how long it is kept after that.
  ///   - tags: replace those of the options; none keeps them. So do `owners`.
  ///   - validators: a later load asks the origin with them.
  ///   - metadata: bytes beside the value; see ``EntryAttributes/metadata``.
  public init(
    _ value: Value, expires: Expiration? = nil, stale: Duration? = nil, tags: [String] = [],
    owners: [Owner] = [], validators: Validators = Validators(), metadata: [UInt8]? = nil
  ) {
    var attributes = EntryAttributes(expires: expires)
    attributes.stale = stale
    attributes.tags = tags
    attributes.owners = owners
    attributes.entityTag = validators.entityTag
    attributes.lastModified = validators.lastModified
    attributes.metadata = metadata
    self = .value(value, attributes)
  }

  /// The same; throws the error of a load that failed.
  var checked: Loaded {
    get throws {
      if case .failed(let error) = self { throw error }
      return self
    }
  }
}

/// The fields by which an origin tells whether a value is still current, byte for byte.
public struct Validators: Sendable, Hashable {
  /// The entity tag (RFC 9110, section 8.8.3).
  public var entityTag: [UInt8]?
  /// The Last-Modified field (RFC 9110, section 8.8.2).
  public var lastModified: [UInt8]?

  /// Either may be missing.
  public init(entityTag: [UInt8]? = nil, lastModified: [UInt8]? = nil) {
    self.entityTag = entityTag
    self.lastModified = lastModified
  }
}

/// The stored value, for a load that asks its origin whether it is still current.
public struct CachedValue<Value: Sendable>: Sendable {
  /// The value, fresh or stale.
  public var value: Value
  /// When it was written or last found unchanged.
  public var written: Timestamp
  /// The validators it was stored with.
  public var validators: Validators
  /// The writer's own bytes beside the value; see ``EntryAttributes/metadata``.
  public var metadata: [UInt8]?
}
