import LMDB
import LarderSystem
import Synchronization

/// What this process remembers of a namespace: its id and rules as of a moment, and what its reads met.
///
/// One per name and store, whether or not the namespace exists. The id is trusted for a snapshot only if it was looked
/// up in that very snapshot, or if the catalogue has the same generation in both.
final class NamespaceHandle: Sendable {
  let name: String
  let reads = StripedCounters()
  /// What reads found in memory, before any of it was counted in `reads`.
  let memory = Mutex(MemoryTallies())
  /// What of these is not this process's to add to the store's counters any more.
  private let merged = Mutex(Merged())
  let known = Mutex<(generation: UInt64, namespace: KnownNamespace)?>(nil)

  // An id and the moment it holds for are one word, so that no reader pairs the id of one moment with another. An id
  // of 0 says that there is no such namespace.
  private let atTransaction = Atomic<UInt64>(0)
  private let atGeneration = Atomic<UInt64>(0)

  private struct Merged {
    var counts = ReadCounters()
    /// The commit with which the store's counters began, as `moment` shows it; 0 before any was seen.
    var epoch: UInt64 = 0
    var moment: UInt64 = 0
  }

  init(name: String) { self.name = name }

  @inline(__always)
  private static func stamp(_ moment: UInt64, _ id: UInt32) -> UInt64 { moment &<< 24 | UInt64(id) }

  @inline(__always)
  private static func id(_ stamp: UInt64) -> NamespaceID {
    NamespaceID(rawValue: UInt32(truncatingIfNeeded: stamp & 0xFF_FFFF))
  }

  /// The namespace's id in the snapshot; ``NamespaceID/store`` if it does not exist there.
  @inline(__always)
  func id(in transaction: borrowing ReadTransaction) throws(LMDBError) -> NamespaceID {
    let known = atTransaction.load(ordering: .relaxed)
    if known &>> 24 == transaction.id & 0xFF_FFFF_FFFF { return Self.id(known) }
    return try lookUp(in: transaction)
  }

  @inline(never)
  private func lookUp(in transaction: borrowing ReadTransaction) throws(LMDBError) -> NamespaceID {
    let generation = try transaction.state().generation & 0xFF_FFFF_FFFF
    let known = atGeneration.load(ordering: .relaxed)
    let id: NamespaceID
    if known &>> 24 == generation {
      id = Self.id(known)
    } else {
      id = try transaction.namespaceID(named: name)
      if id != .store { begin(try transaction.epoch(of: id), seenAt: transaction.id) }
      atGeneration.store(Self.stamp(generation, id.rawValue), ordering: .relaxed)
    }
    atTransaction.store(Self.stamp(transaction.id, id.rawValue), ordering: .relaxed)
    return id
  }

  func count(_ kind: ReadCounters.Kind, stripe: Int) {
    reads.count(kind.rawValue, stripe: stripe)
  }

  /// A stale value that was met, and served.
  func countServed() {
    reads.count(ReadCounters.Kind.served.rawValue)
  }

  /// A value that was found and could not be read as what it should be: a miss after all.
  func countUndecodable() {
    reads.count(ReadCounters.Kind.undecodable.rawValue)
  }

  /// What this process's reads met and the store does not know yet.
  func unmerged() -> ReadCounters {
    let total = total
    return merged.withLock { merged in
      var difference = ReadCounters()
      for kind in ReadCounters.Kind.allCases {
        difference[kind] = total[kind] &- merged.counts[kind]
      }
      return difference
    }
  }

  private var total: ReadCounters {
    var total = ReadCounters()
    for kind in ReadCounters.Kind.allCases { total[kind] = reads.total(kind.rawValue) }
    let found = memory.withLock { $0.total }
    // A validation looked the entry up, and so is a hit among `reads` already.
    total[.hits] &+= found[.hits]
    total[.memory] = found[.hits] &+ found[.revalidatedHits]
    return total
  }

  /// The store's counters began with commit `epoch`, as the commit `moment` shows them: what was read before that was
  /// noticed and is not merged yet is forgotten.
  ///
  /// The first read after a reset comes by here, because a reset is a new generation of the catalogue. So nothing read
  /// before it counts, and nothing read after it is lost, but for reads under way in other threads just then.
  func begin(_ epoch: UInt64, seenAt moment: UInt64) {
    let total = total
    merged.withLock { merged in
      guard moment >= merged.moment else { return }
      merged.moment = moment
      if epoch == merged.epoch { return }
      merged.counts = total
      merged.epoch = epoch
    }
  }

  /// The store's counts now include these reads; or, if the write failed, again do not.
  func note(_ counts: ReadCounters, rolledBack: Bool = false) {
    merged.withLock { merged in
      for kind in ReadCounters.Kind.allCases {
        let known = merged.counts[kind]
        merged.counts[kind] = rolledBack ? known &- counts[kind] : known &+ counts[kind]
      }
    }
  }
}

extension ReadTransaction {
  func state() throws(LMDBError) -> StoreState {
    guard let region = try find(MetadataKey.state, in: .main) else { return StoreState() }
    return StoreState(bytes(of: region))
  }

  func namespaceID(named name: String) throws(LMDBError) -> NamespaceID {
    guard let region = try find(MetadataKey.namespace(name), in: .main) else { return .store }
    return NamespaceRecord.id(bytes(of: region), name: name) ?? .store
  }

  /// The commit with which the statistics of a namespace began.
  func epoch(of id: NamespaceID) throws(LMDBError) -> UInt64 {
    guard let region = try find(MetadataKey.counters(id), in: .main) else { return 0 }
    let record = bytes(of: region)
    let offset = NamespaceCounters.epochOffset
    return record.count >= offset + 8 ? record.word(at: offset) : 0
  }
}
