/// An entry's attributes besides key and value. An overwrite replaces all attributes, but a nil ``isPinned`` keeps the pin.
public struct EntryAttributes: Sendable {
  /// The format of the value's bytes, for programs that display the value. A cache sets the number of its codec.
  public var codec: CodecID
  /// The expiration; nil means the expiration of the namespace's rules.
  public var expires: Expiration?
  /// How long the entry may be served stale after its expiry; nil means the duration of the namespace's rules.
  public var stale: Duration?
  /// Whether the entry is protected from eviction; nil keeps the pin of the replaced entry.
  public var isPinned: Bool?
  /// Whether the entry records that its key has no value.
  package var isNegative = false
  /// Whether the owners may be missing now and be written later, as in an import.
  package var awaitsOwners = false
  /// The time at which a copied value was first written; nil means now. A time in the future also means now.
  public var written: Timestamp?
  /// When the load of the value ended; nil for a value that was not loaded.
  var loaded: Timestamp?

  /// Attributes that few entries have, in a box on the heap, because each write copies its attributes several times.
  private struct Rare: Sendable {
    var tags: [String] = []
    var owners: [Owner] = []
    var idle: Duration?
    var entityTag: [UInt8]?
    var lastModified: [UInt8]?
    var metadata: [UInt8]?
    var copy: CopyTerms?
  }

  private final class Box: Sendable {
    let content: Rare

    init(_ content: Rare) { self.content = content }
  }

  private var box: Box?

  private mutating func change(_ change: (inout Rare) -> Void) {
    var rare = box?.content ?? Rare()
    change(&rare)
    box = Box(rare)
  }

  /// Attributes with the given codec and expiration. If the expiration is nil, the namespace's rules apply.
  @inline(__always)
  public init(codec: CodecID = .bytes, expires: Expiration? = nil) {
    self.codec = codec
    self.expires = expires
  }

  /// A copy of the attributes with another expiration; nil keeps the expiration.
  @inline(__always)
  func expiring(_ expires: Expiration?) -> EntryAttributes {
    guard let expires else { return self }
    var attributes = self
    attributes.expires = expires
    return attributes
  }

  /// The lifetime of a loaded value counts from the end of the load. Only a time to idle begins at the later commit.
  func counted(from now: Timestamp) -> EntryAttributes {
    var attributes = self
    attributes.written = attributes.written ?? now
    attributes.loaded = now
    if let expires, expires != .never, expires.timeToIdle == nil,
      let end = try? expires.deadline(from: now)
    {
      attributes.expires = .at(Timestamp(milliseconds: end))
    }
    return attributes
  }

  /// Tags by which entries can be invalidated. Each tag has 1 to 200 bytes of UTF-8, and no byte is 0.
  public var tags: [String] {
    get { box?.content.tags ?? [] }
    set { change { $0.tags = newValue } }
  }

  /// The owners of the entry. When its last owner is removed, the entry is removed, too. If an owner is not stored, the write
  /// throws ``LarderError/Code/noSuchOwner``.
  public var owners: [Owner] {
    get { box?.content.owners ?? [] }
    set { change { $0.owners = newValue } }
  }

  /// The time to idle of an entry whose expiry is given, as in an import; nil means the time to idle of ``expires``.
  package var idle: Duration? {
    get { box?.content.idle }
    set { change { $0.idle = newValue } }
  }

  /// The entity tag (RFC 9110, section 8.8.3), byte for byte as in the response that contained the value.
  public var entityTag: [UInt8]? {
    get { box?.content.entityTag }
    set { change { $0.entityTag = newValue } }
  }

  /// The modification date (RFC 9110, section 8.8.2), byte for byte as in the response that contained the value.
  public var lastModified: [UInt8]? {
    get { box?.content.lastModified }
    set { change { $0.lastModified = newValue } }
  }

  /// Bytes for the program's own use, stored with the value.
  public var metadata: [UInt8]? {
    get { box?.content.metadata }
    set { change { $0.metadata = newValue } }
  }

  /// The terms under which a shared tier gave the value to a load; nil for every other value.
  package var copy: CopyTerms? {
    get { box?.content.copy }
    set { change { $0.copy = newValue } }
  }

  /// - Parameter transformed: the value and the metadata after the transforms; nil if no transform ran.
  func fields(
    longKey: [UInt8]?, owners: [StoredOwner], _ transformed: TransformedValue?
  ) throws(LarderError) -> EntryFields {
    var fields = EntryFields()
    if longKey == nil, transformed == nil, owners.isEmpty, box == nil { return fields }
    // The field of the whole key must be the first field and the transforms the next, because reads look for both there.
    if let longKey { fields[.key] = longKey }
    if let steps = transformed?.steps { fields[.transforms] = steps.encoded() }
    fields.replaceAll(.owner, with: owners.map(\.field))
    var seen: Set<[UInt8]> = []
    fields.tags = try tags.map { tag throws(LarderError) in try Self.validated(tag) }
      .filter { seen.insert($0).inserted }
    if let metadata = transformed?.metadata {
      fields[.transformedMetadata] = metadata
    } else {
      fields.metadataFields = metadataFields
    }
    return fields
  }

  var isPlain: Bool {
    box == nil && isPinned == nil && written == nil && !isNegative && !awaitsOwners
  }

  static func validated(all tags: [String]) throws(LarderError) -> [[UInt8]] {
    if tags.isEmpty {
      throw LarderError(
        .invalidArgument, "no tag says which entries are meant", hint: "name one tag or more")
    }
    return try tags.map { tag throws(LarderError) in try validated(tag) }
  }

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
