extension Store {
  /// An entry without its value.
  public struct Entry: Sendable, Hashable {
    /// The stage of an entry between its write and its removal.
    public enum State: String, Sendable, Codable {
      /// Reads find the entry.
      case fresh
      /// The entry is past its expiry and within its stale window: a load may serve it, and plain reads miss it.
      case stale
      /// The entry is past its stale window. It is stored until a purge or a write removes it.
      case expired
    }

    /// The name of the entry's namespace.
    public var namespace: String
    /// The key of the entry.
    public var key: Key
    /// Bytes of the value as the caller wrote it.
    public var size: Int
    /// Bytes of the stored entry: header, tags, owners, metadata, and the value in its stored form.
    public var storedSize: Int
    /// When the value was written.
    public var written: Timestamp
    /// When the entry was last read or written, to the minute; nil if unknown.
    public var lastUsed: Timestamp?
    /// When the entry stops being fresh; nil for never.
    public var expires: Timestamp?
    /// The end of the stale window; nil for an entry without a stale window.
    public var staleUntil: Timestamp?
    /// How long the entry stays fresh after its last access, at least; nil without a time to idle.
    public var timeToIdle: Duration?
    /// Whether the entry is fresh, stale or expired, by the store's clock.
    public var state: State
    /// The codec that the writer gave.
    public var codec: CodecID
    /// A number that rises with each write of the value and is never used again.
    public var version: UInt64
    /// Whether the entry is protected from eviction; see `pin(_:)` of ``Store/Namespace``.
    public var isPinned: Bool
    /// Whether this is a negative entry, which records that the key has no value; reads miss it. See ``Loaded/absent``.
    public var isNegative: Bool
    /// The owners of the entry. The removal of the last owner removes the entry.
    public var owners: [Owner]
    /// The tags of the entry; see ``Store/invalidate(tag:)``.
    public var tags: [String]
    /// The entity tag (RFC 9110, section 8.8.3) of the response that the value came from, byte for byte.
    public var entityTag: [UInt8]?
    /// The Last-Modified field (RFC 9110, section 8.8.2) of the response that the value came from, byte for byte.
    public var lastModified: [UInt8]?
    /// The writer's own bytes beside the value, such as response fields.
    ///
    /// Like entity tag and Last-Modified, the bytes are nil if they are encrypted and the store was opened without the key.
    public var metadata: [UInt8]?
    /// The transforms that changed the value, in the order in which they were applied.
    public var transforms: [TransformID]
  }
}
