/// What is stored under a key, for a load that asks its origin whether that is still right.
public struct CachedValue<Value: Sendable>: Sendable {
  public var value: Value
  public var written: Timestamp
  /// The validators it was stored with, byte for byte.
  public var entityTag: [UInt8]?
  public var lastModified: [UInt8]?
  /// What the writer kept beside it.
  public var metadata: [UInt8]?

  /// For what loads from elsewhere than a store, tests among them.
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

/// What a load has come to.
public enum LoadOutcome<Value: Sendable>: Sendable {
  /// A value, to be kept as the options say.
  case value(Value)
  /// A value that says itself how it is to be kept: its lifetime, its validators. The codec's id is set for it.
  case stored(Value, EntryAttributes)
  /// What is known is still right: its lifetime begins anew.
  case unchanged
  /// There is no such thing.
  case absent
}
