/// The outcome of a load, for all functions that load:
///
///     Loaded(board, expires: .after(.minutes(2)), tags: ["boards"])
public struct Loaded<Value: Sendable>: Sendable {
  package enum Outcome: Sendable {
    case value(Value, EntryAttributes)
    case unchanged
    case absent(EntryAttributes)
    case failed(any Error)
  }

  package let outcome: Outcome

  private init(_ outcome: Outcome) { self.outcome = outcome }

  /// A value with its own attributes. Missing attributes come from the options. The codec comes from the cache.
  public static func value(
    _ value: Value, _ attributes: EntryAttributes = EntryAttributes()
  ) -> Loaded { Loaded(.value(value, attributes)) }

  /// The stored value is still current, and its lifetime starts again. If no value is stored, the load fails.
  public static var unchanged: Loaded { Loaded(.unchanged) }

  /// The origin has no value for the key. ``LoadOptions/absent`` gives the lifetime of the negative entry.
  public static var absent: Loaded { absent(EntryAttributes()) }

  /// The origin has no value for the key. The negative entry gets `attributes`.
  package static func absent(_ attributes: EntryAttributes) -> Loaded {
    Loaded(.absent(attributes))
  }

  /// The load of this key failed. The effect is that of an error that the closure throws.
  public static func failed(_ error: any Error) -> Loaded { Loaded(.failed(error)) }

  /// A value. Missing attributes come from ``LoadOptions``, or else from the rules of the namespace.
  ///
  /// - Parameters:
  ///   - expires: how long the value stays fresh.
  ///   - stale: how long the value is kept after its expiry.
  ///   - tags: the tags of the value; an empty list means the tags of the options. The same applies to `owners`.
  ///   - validators: the validators with which a later load asks the origin.
  ///   - metadata: bytes that are stored beside the value; see ``EntryAttributes/metadata``.
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
    outcome = .value(value, attributes)
  }
}

/// The fields by which an origin recognizes the stored value, so that the origin can say whether the value is current.
public struct Validators: Sendable, Hashable {
  /// The entity tag (RFC 9110, section 8.8.3).
  public var entityTag: [UInt8]?
  /// The Last-Modified field (RFC 9110, section 8.8.2).
  public var lastModified: [UInt8]?

  /// Makes validators. Each validator may be missing.
  public init(entityTag: [UInt8]? = nil, lastModified: [UInt8]? = nil) {
    self.entityTag = entityTag
    self.lastModified = lastModified
  }
}

/// The stored value, for a load that can ask the origin whether the value is still current.
public struct CachedValue<Value: Sendable>: Sendable {
  /// The value, fresh or stale.
  public var value: Value
  /// When the value was written, or last confirmed as unchanged.
  public var written: Timestamp
  /// The validators that were stored with the value.
  public var validators: Validators
  /// Bytes that the writer stored beside the value; see ``EntryAttributes/metadata``.
  public var metadata: [UInt8]?

  package init(value: Value, written: Timestamp, validators: Validators, metadata: [UInt8]? = nil) {
    self.value = value
    self.written = written
    self.validators = validators
    self.metadata = metadata
  }
}
