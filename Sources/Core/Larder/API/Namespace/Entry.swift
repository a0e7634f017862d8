import LarderSystem

extension Store {
  /// An entry without its value.
  public struct Entry: Sendable, Hashable {
    /// Where an entry stands between its write and its removal.
    public enum State: String, Sendable, Codable {
      /// Reads find it.
      case fresh
      /// Past its expiry and within its stale window: a load may serve it, and plain reads miss it.
      case stale
      /// Past its stale window; stored until a purge or a write removes it.
      case expired
    }

    /// The name of its namespace.
    public var namespace: String
    /// Its key.
    public var key: Key
    /// Bytes of the value, as it was written.
    public var size: Int
    /// Bytes of the header and the value, as they are stored.
    public var storedSize: Int
    /// When it was written.
    public var written: Timestamp
    /// When it was last read or written, to the minute; nil if unknown.
    public var lastUsed: Timestamp?
    /// When it stops being fresh; nil for never.
    public var expires: Timestamp?
    /// Until when it may be served stale; nil if not at all.
    public var staleUntil: Timestamp?
    /// How long it stays fresh at least after its last access; nil without a time to idle.
    public var timeToIdle: Duration?
    /// Whether it is fresh, stale or expired, by the store's clock.
    public var state: State
    /// The codec that its writer named.
    public var codec: CodecID
    /// A number that rises with each write of the value and is not used again.
    public var version: UInt64
    /// Whether it is protected from eviction; see `pin(_:)` of ``Store/Namespace``.
    public var isPinned: Bool
    /// Whether it is a negative entry, which records that its key has no value; reads miss it. See
    /// ``Loaded/absent``.
    public var isNegative: Bool
    /// The entries it belongs to. The removal of the last of them removes it.
    public var owners: [Owner]
    /// Its tags; see ``Store/invalidate(tag:)``.
    public var tags: [String]
    /// The entity tag (RFC 9110, section 8.8.3) of the response it was made from, byte for byte.
    public var entityTag: [UInt8]?
    /// The Last-Modified field (RFC 9110, section 8.8.2) of that response, byte for byte.
    public var lastModified: [UInt8]?
    /// The writer's own bytes beside the value, such as response fields.
    ///
    /// Nil, as are entity tag and modification date, if they are encrypted and the store was opened without the key.
    public var metadata: [UInt8]?
    /// The transforms that changed the value, in the order in which they were applied.
    public var transforms: [TransformID]
  }
}
