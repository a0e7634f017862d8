/// Records the removals of a batch, so that loads that began earlier do not store their values. Evictions and expiries are not
/// recorded: after them a load may store its value.
struct RemovalRecorder {
  private let table: RemovalTable
  private(set) var number: UInt64?

  init(_ table: RemovalTable) { self.table = table }

  mutating func record(_ hash: UInt64) {
    if number == nil { number = table.begin() }
    if let number { table.record(hash, number) }
  }

  /// Whether certainly no removal under one of the hashes happened after `moment`, in this batch or before it.
  func isNewest(_ moment: RemovalTable.Mark, of hashes: [UInt64]) -> Bool {
    guard table.open() else { return false }
    table.settle(before: number)
    if moment.isKnown, table.isNewest(moment, of: hashes) { return true }
    table.mend(hashes)
    return false
  }
}

extension WriteBatch {
  /// Keeps loads that began before this batch from storing values in a namespace; nil means in every namespace.
  package mutating func refuseEarlierLoads(in namespace: Store.Namespace?) {
    let hash = namespace.map { RemovalTable.hash(ofNamespace: $0.name) }
    session.removals.record(hash ?? RemovalTable.hashOfStore)
  }

  /// Keeps loads that began before this batch from storing values with a tag, whether or not an entry with the tag is stored.
  package mutating func refuseEarlierLoads(tagged tag: String) {
    session.removals.record(RemovalTable.hash(ofTag: Array(tag.utf8)))
  }

  /// Whether a load may store its value: no removal since the begin of the load had the store, the namespace, the key, a tag
  /// or an owner of the value, or a tag of the entry to be replaced. `key` is nil if the load itself has removed the former
  /// entry.
  package mutating func isNewest(
    _ moment: RemovalTable.Mark, _ key: [UInt8]?, in namespace: String,
    _ attributes: EntryAttributes
  ) throws(LarderError) -> Bool {
    let id = try session.namespace(namespace)?.id ?? .store
    var hashes = [RemovalTable.hashOfStore, RemovalTable.hash(ofNamespace: namespace)]
    hashes += RemovalTable.hashes(ofTags: attributes.tags)
    if let key, id != .store {
      hashes.append(Checksum.keyHash(of: key.span, in: id))
      if let present = try session.entry(key.span, in: id) {
        hashes += present.fields.tags.map(RemovalTable.hash(ofTag:))
      }
    }
    for owner in attributes.owners {
      let id = try session.namespace(owner.namespace)?.id
      hashes += RemovalTable.hashes(of: owner, in: id)
    }
    return session.removals.isNewest(moment, of: hashes)
  }
}

extension Store {
  /// The moment of a load that has not looked up its key yet; see ``WriteBatch/isNewest(_:_:in:_:)``.
  package var momentOfLoad: RemovalTable.Mark {
    if !isReadOnly { engine.removalTable.open() }
    return engine.removalTable.now
  }
}

extension RemovalReason {
  var isRemoval: Bool { self == .removed || self == .invalidated || self == .orphaned }
}
