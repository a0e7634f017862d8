import LMDB
import LarderSystem

/// An entry to which another entry, its dependent, belongs. A dependent is removed together with its last owner.
///
/// An entry may have several owners, in any namespaces. The reason of the removal does not matter: a call, expiry or eviction.
/// One transaction handles up to 1,000 dependents, and the next transactions immediately handle the rest. When a namespace is
/// cleared, the dependents of its entries are not removed immediately but later, when the cleared entries are reclaimed.
public struct Owner: Hashable, Sendable {
  /// The name of the owner's namespace.
  public var namespace: String
  /// The key of the owner in that namespace.
  public var key: Key

  /// Whether both owners are the same entry. Names of namespaces are compared byte by byte, as keys are.
  public static func == (left: Owner, right: Owner) -> Bool {
    left.namespace.isExactly(right.namespace) && left.key == right.key
  }

  /// The entry under `key` of a namespace. Neither the entry nor the namespace needs to exist yet.
  public init(_ key: Key, in namespace: String) {
    self.namespace = namespace
    self.key = key
  }
}

/// An owner in the form that entries store: with the id of the namespace, because a rename does not change the id.
struct StoredOwner: Equatable {
  var id: NamespaceID
  var key: [UInt8]
}

extension StoredOwner {
  init?(_ field: [UInt8]) {
    guard field.count > 4 else { return nil }
    id = field.span.namespaceID
    key = Array(field.dropFirst(4))
  }

  var field: [UInt8] { id.prefix + key }

  var entryKey: [UInt8] { StoredKey.entry(key.span, in: id) }
}

/// Removed owners with dependents. A batch removes a limited number of dependents, and stores the rest for later batches.
struct OrphanQueue {
  static let perBatch = 1000

  /// The owners, each with the last index record that was handled; nil if none was handled.
  private(set) var waiting: [(owner: [UInt8], position: [UInt8]?)] = []
  /// Owners that wait because a dependent is needed by the current write.
  private var putOff: [[UInt8]] = []
  /// The number of dependents that this batch may still remove.
  private(set) var left = Self.perBatch
  /// The number of these dependents that this batch may remove even if few pages are free.
  private(set) var least = BatchPages.leastRemoved

  mutating func add(_ owner: [UInt8], after position: [UInt8]? = nil) {
    waiting.append((owner, position))
  }

  mutating func putOff(_ owner: [UInt8]) { if putOff.last != owner { putOff.append(owner) } }

  mutating func resume() {
    for owner in putOff { add(owner) }
    putOff = []
  }

  mutating func advance(to position: [UInt8]?, count: Int, isLast: Bool) {
    left -= count
    least = max(0, least - count)
    if isLast { waiting.removeLast() } else { waiting[waiting.count - 1].position = position }
  }
}

extension WriteSession {
  mutating func loadOrphans() throws(LarderError) {
    let prefix = MetadataKey.orphans
    guard let key = try transaction.keys(in: .main, from: prefix, limit: 1).first else {
      ledger.updateStore { $0.orphans = 0 }
      return
    }
    // The record has the position. If the record is damaged, `position` is nil and the search begins at the first dependent.
    let record = try transaction.copy(of: key, in: .main) ?? []
    let position = engine.seal.open(record.span, for: key)?.copied
    orphans.add(Array(key.dropFirst(prefix.count)), after: position)
    try transaction.remove(key, from: .main)
    ledger.updateStore { $0.orphans &-= 1 }
  }

  mutating func saveOrphans() throws(LarderError) {
    for removed in orphans.waiting {
      let prefix = IndexKey.owner(removed.owner, entry: [])
      let rest = try transaction.keys(
        in: engine.indexes.tags, from: prefix, after: removed.position, limit: 1)
      if rest.isEmpty { continue }
      let key = MetadataKey.orphans + removed.owner
      let position = removed.position ?? prefix
      if try !transaction.contains(key, in: .main) { ledger.updateStore { $0.orphans &+= 1 } }
      try transaction.put(engine.seal.seal(position, for: key), for: key, in: .main)
    }
  }
}
