import LarderSystem

/// The stored value, for a load that asks its origin whether it is still current.
public struct CachedValue<Value: Sendable>: Sendable {
  /// The value, fresh or stale.
  public var value: Value
  /// When it was written or last found unchanged.
  public var written: Timestamp
  /// The entity tag (RFC 9110, section 8.8.3) it was stored with, byte for byte.
  public var entityTag: [UInt8]?
  /// The Last-Modified field (RFC 9110, section 8.8.2) it was stored with, byte for byte.
  public var lastModified: [UInt8]?
  /// The writer's own bytes beside the value; see ``EntryAttributes/metadata``.
  public var metadata: [UInt8]?

  /// Makes one without a store, for tests and for caches of other kinds.
  public init(
    value: Value, written: Timestamp, entityTag: [UInt8]? = nil, lastModified: [UInt8]? = nil,
    metadata: [UInt8]? = nil
  ) {
    self.value = value
    self.written = written
    self.entityTag = entityTag
    self.lastModified = lastModified
    self.metadata = metadata
  }
}

/// The outcome of a load that received the stored value.
public enum LoadOutcome<Value: Sendable>: Sendable {
  /// A value, stored as the options say.
  case value(Value)
  /// A value with attributes of its own: lifetime, validators, tags. The options supply those that are left out, and the
  /// cache its codec.
  case stored(Value, EntryAttributes)
  /// The stored value is still current, and its lifetime starts again. An error without a stored value.
  case unchanged
  /// There is no such value.
  case absent
}
