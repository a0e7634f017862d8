/// What a write says of an entry besides its key and value. An overwrite replaces all of it, except the pin.
public struct EntryAttributes: Sendable {
  /// What the bytes are, for those who look; a cache says its own.
  public var codec: CodecID
  /// Nil: the namespace's rule.
  public var expires: Expiration?
  /// How long after its expiry it may be served stale; nil: the namespace's rule.
  public var stale: Duration?
  /// At most 200 bytes each.
  public var tags: [String] = []
  /// Entries it leaves with the last of; each must be there.
  public var owners: [Owner] = []
  /// For how long it stays after its last use, beside an end that is given, as in an import; nil: as ``expires`` says.
  package var idle: Duration?
  /// Whether owners may come later, as in an import.
  package var awaitsOwners = false
  /// The validators of the response it was made from, byte for byte.
  public var entityTag: [UInt8]?
  public var lastModified: [UInt8]?
  /// What the writer keeps beside the value.
  public var metadata: [UInt8]?
  /// Whether it is kept from being evicted; nil: as what it replaces.
  public var isPinned: Bool?
  /// Whether it says that there is nothing under its key.
  package var isNegative = false
  /// When it was written, where it was written before; nil: now. Never later than now.
  public var written: Timestamp?

  public init(codec: CodecID = .bytes, expires: Expiration? = nil) {
    self.codec = codec
    self.expires = expires
  }

  func fields(
    longKey: [UInt8]?, owners: [StoredOwner]
  ) throws(LarderError) -> EntryFields {
    var fields = EntryFields()
    // The whole key comes first, where a read looks for it.
    if let longKey { fields[.key] = longKey }
    fields.replaceAll(.owner, with: owners.map(\.field))
    for tag in tags {
      let bytes = try Self.validated(tag)
      if !fields.tags.contains(bytes) { fields.tags.append(bytes) }
    }
    if let entityTag { fields[.entityTag] = entityTag }
    if let lastModified { fields[.lastModified] = lastModified }
    if let metadata { fields[.metadata] = metadata }
    return fields
  }

  /// The bytes of a tag, if it can be one.
  package static func validated(_ tag: String) throws(LarderError) -> [UInt8] {
    let bytes = Array(tag.utf8)
    guard (1...IndexKey.longestTag).contains(bytes.count), !bytes.contains(0) else {
      throw LarderError(
        .invalidArgument, "\"\(tag)\" cannot be a tag",
        hint: "use 1 to \(IndexKey.longestTag) bytes, none of them 0")
    }
    return bytes
  }
}
