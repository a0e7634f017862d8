/// What a write says of an entry besides its key and value.
package struct EntryAttributes: Sendable {
  package var codec: CodecID
  /// Nil: the namespace's rule.
  package var expires: Expiration?
  /// How long after its expiry it may be served stale; nil: the namespace's rule.
  package var stale: Duration?
  package var tags: [String] = []
  package var owner: Key?
  package var entityTag: [UInt8]?
  package var lastModified: [UInt8]?
  package var metadata: [UInt8]?
  package var isPinned = false
  /// When it was written, where it was written before; nil: now. Never later than now.
  package var written: Timestamp?

  package init(codec: CodecID = .bytes, expires: Expiration? = nil) {
    self.codec = codec
    self.expires = expires
  }

  func fields(longKey: [UInt8]?) throws(LarderError) -> EntryFields {
    var fields = EntryFields()
    // The whole key comes first, where a read looks for it.
    if let longKey { fields[.key] = longKey }
    if let owner { fields[.owner] = owner.bytes }
    for tag in tags {
      let bytes = try Self.validated(tag)
      if !fields.tags.contains(bytes) { fields.tags.append(bytes) }
    }
    if let entityTag { fields[.entityTag] = entityTag }
    if let lastModified { fields[.lastModified] = lastModified }
    if let metadata { fields[.metadata] = metadata }
    return fields
  }

  private static func validated(_ tag: String) throws(LarderError) -> [UInt8] {
    let bytes = Array(tag.utf8)
    guard (1...IndexKey.longestTag).contains(bytes.count), !bytes.contains(0) else {
      throw LarderError(
        .invalidArgument, "\"\(tag)\" cannot be a tag",
        hint: "use 1 to \(IndexKey.longestTag) bytes, none of them 0")
    }
    return bytes
  }
}

extension Batch {
  /// Stores a value with all that is known of it.
  package mutating func put(
    _ value: [UInt8], for key: some StoreKey, in namespace: Namespace, attributes: EntryAttributes
  ) throws {
    try key.withKeyBytes { key in
      try put(value.span, for: key, in: namespace.name, attributes: attributes)
    }
  }
}
