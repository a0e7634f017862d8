extension WriteBatch {
  /// Prevents loads that began before this batch from storing values in a namespace; nil means in every namespace.
  package mutating func refuseEarlierLoads(in namespace: Store.Namespace?) {
    let hash = namespace.map { RemovalTable.hash(ofNamespace: $0.name) }
    session.recordRemoval(of: hash ?? RemovalTable.hashOfStore)
  }

  /// Prevents loads that began before this batch from storing values with a tag, even if no entry with the tag is stored.
  package mutating func refuseEarlierLoads(tagged tag: String) {
    session.recordRemoval(of: RemovalTable.hash(ofTag: Array(tag.utf8), in: nil))
  }

  /// Whether a load may store its value, because certainly none of these was removed after its begin: the store, the namespace,
  /// the key, a tag or an owner of the value, a tag of the replaced entry. `key` is nil if the load has removed that entry.
  package mutating func isNewest(
    _ moment: RemovalTable.Mark, _ key: [UInt8]?, in namespace: String,
    _ attributes: EntryAttributes
  ) throws(LarderError) -> Bool {
    let id = try session.namespace(namespace)?.id ?? .store
    var hashes = [RemovalTable.hashOfStore, RemovalTable.hash(ofNamespace: namespace)]
    var tags = attributes.tags.map { Array($0.utf8) }
    if let key, id != .store {
      hashes.append(Checksum.keyHash(of: key.span, in: id))
      tags += try session.entry(key.span, in: id)?.fields.tags ?? []
    }
    hashes += RemovalTable.hashes(ofTags: tags, in: namespace)
    for owner in attributes.owners {
      hashes += try RemovalTable.hashes(of: owner, in: session.namespace(owner.namespace)?.id)
    }
    let table = session.engine.removalTable
    guard table.open() else { return false }
    table.settle(before: session.effects.removal)
    if moment.isKnown, table.isNewest(moment, of: hashes) { return true }
    table.mend(hashes)
    return false
  }
}
