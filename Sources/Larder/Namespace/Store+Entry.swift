extension Store {
  /// What is known about an entry besides its value.
  public struct Entry: Sendable, Hashable {
    /// Where the entry stands between its write and its end.
    public enum State: String, Sendable, Codable {
      /// Reads find it.
      case fresh
      /// Past its expiry and kept to be served while a newer value is fetched; plain reads miss it.
      case stale
      /// Its time has come; it is stored until a purge or a write removes it.
      case expired
    }

    public var namespace: String
    public var key: Key
    /// Bytes of the value.
    public var size: Int
    /// Bytes of the header and the value.
    public var storedSize: Int
    public var written: Timestamp
    /// When it was last read or written, to the minute; nil if that is not known any more.
    public var lastUsed: Timestamp?
    /// From when on it is not fresh; nil for never.
    public var expires: Timestamp?
    /// Until when it may be served stale; nil if there is no such time after `expires`.
    public var staleUntil: Timestamp?
    /// For how long it stays after its last use, at the least; nil where use does not count.
    public var timeToIdle: Duration?
    public var state: State
    public var codec: CodecID
    /// Changes whenever the value is written again, and never returns.
    public var version: UInt64
    public var isPinned: Bool
    /// Whether it says that there is nothing under its key; reads miss it. See ``Cache/valueIfPresent(for:options:load:)``.
    public var isNegative: Bool
    /// The entries it belongs to; it leaves with the last of them.
    public var owners: [Owner]
    public var tags: [String]
    /// The validator of the response it was made from, byte for byte.
    public var entityTag: [UInt8]?
    public var lastModified: [UInt8]?
    /// What the writer keeps beside the value, such as response fields.
    public var metadata: [UInt8]?
  }
}
