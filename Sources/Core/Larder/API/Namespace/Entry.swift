extension Store {
  /// An entry without its value.
  public struct Entry: Sendable, Hashable {
    /// The stage of an entry between its write and its removal.
    public enum State: String, Sendable, Codable {
      /// Reads find the entry.
      case fresh
      /// The lifetime has ended, but the stale window has not ended. Only reads that can load find the entry.
      case stale
      /// The lifetime and the stale window have ended. The entry stays in the store until a purge or a write removes the entry.
      case expired
    }

    /// The name of the entry's namespace.
    public var namespace: String
    /// The key of the entry.
    public var key: Key
    /// The size in bytes of the value that the caller wrote.
    public var size: Int
    /// The size in bytes of the stored entry: header, tags, owners, metadata, and the value after its transforms.
    public var storedSize: Int
    /// The size in bytes of the value after its transforms, which limits and counters use.
    package var valueSize = 0
    /// When the value was written.
    public var written: Timestamp
    /// When the entry was last read or written, to the minute; nil if unknown. Reads that only memory answered do not count.
    public var lastUsed: Timestamp?
    /// When the entry stops being fresh; nil if never.
    public var expires: Timestamp?
    /// The end of the stale window; nil if the entry has no stale window.
    public var staleUntil: Timestamp?
    /// The time to idle: the entry stays fresh for at least this time after its last access. Nil if no time is set.
    public var timeToIdle: Duration?
    /// Whether the entry is fresh, stale or expired, by the store's clock.
    public var state: State
    /// The codec that the writer named.
    public var codec: CodecID
    /// A number that rises with each write of the value. A namespace uses no number twice, not even after a removal. But after a
    /// rename another namespace may have the name, and after a power failure, new values may get the numbers of lost values.
    public var version: UInt64
    /// Whether the entry is protected from eviction; see `pin(_:)` of ``Store/Namespace``.
    public var isPinned: Bool
    /// Whether the entry is negative: such an entry records that its key has no value. See ``Loaded/absent``.
    public var isNegative: Bool
    /// The owners of the entry. If the last owner is removed, the entry is removed, too.
    public var owners: [Owner]
    /// The tags of the entry; see ``Store/invalidate(tag:)``.
    public var tags: [String]
    /// The entity tag (RFC 9110, section 8.8.3) of the response that the value came from, byte for byte.
    public var entityTag: [UInt8]?
    /// The Last-Modified field (RFC 9110, section 8.8.2) of the response that the value came from, byte for byte.
    public var lastModified: [UInt8]?
    /// Bytes that the writer stored beside the value, such as response fields.
    ///
    /// ``entityTag``, ``lastModified`` and these bytes are nil if the store was opened without the key that decrypts them.
    public var metadata: [UInt8]?
    /// The transforms that changed the value, in the order in which they were applied.
    public var transforms: [TransformID]
  }
}
