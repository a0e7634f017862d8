import LMDB
import LarderSystem

/// Removed owners whose dependents are not all removed yet.
///
/// A batch removes a bounded number of dependents. The rest of the queue is stored, and the next batch of any process
/// continues with it.
struct OrphanQueue {
  /// How many dependent entries one batch looks at.
  static let perBatch = 1000

  struct Removed {
    /// The entry key of the removed owner.
    var owner: [UInt8]
    /// The last index record that was looked at; nil at the beginning.
    var position: [UInt8]?
  }

  private var waiting: [Removed] = []
  /// How many dependents this batch may still look at.
  private(set) var left = Self.perBatch

  mutating func add(_ owner: [UInt8]) { waiting.append(Removed(owner: owner)) }

  /// The owner to continue with; nil at the end, or when this batch has done its share.
  var next: Removed? { left > 0 ? waiting.last : nil }

  /// - Parameter isLast: whether nothing is left of the owner returned by ``next``.
  mutating func advance(to position: [UInt8]?, count: Int, isLast: Bool) {
    left -= count
    if isLast {
      waiting.removeLast()
    } else {
      waiting[waiting.count - 1].position = position
    }
  }

  /// Takes over one owner that an earlier batch has left.
  mutating func load(
    _ counters: inout BatchCounters, _ transaction: inout StoreTransaction
  ) throws(LarderError) {
    let prefix = MetadataKey.orphans
    guard let key = try transaction.keys(in: .main, from: prefix, limit: 1).first else {
      counters.updateStore { $0.orphans = 0 }
      return
    }
    // If the position is damaged, the search begins again.
    let record = try transaction.copy(of: key, in: .main) ?? []
    let position = counters.seal.open(record.span, for: key)?.copied
    waiting.append(Removed(owner: Array(key.dropFirst(prefix.count)), position: position))
    try transaction.remove(key, from: .main)
    counters.updateStore { $0.orphans &-= 1 }
  }

  /// Stores what this batch has not done.
  ///
  /// - Parameter database: the index of tags and owners.
  mutating func save(
    from database: Database, _ counters: inout BatchCounters, _ transaction: inout StoreTransaction
  ) throws(LarderError) {
    for removed in waiting {
      let prefix = IndexKey.owner(removed.owner, entry: [])
      if removed.position == nil,
        try transaction.keys(in: database, from: prefix, limit: 1).isEmpty
      {
        continue
      }
      let key = MetadataKey.orphans + removed.owner
      let position = removed.position ?? prefix
      if try !transaction.contains(key, in: .main) { counters.updateStore { $0.orphans &+= 1 } }
      try transaction.put(counters.seal.seal(position, for: key), for: key, in: .main)
    }
    waiting = []
  }
}
