import LMDB
import LarderSystem
import Synchronization

/// The state of a namespace in this process: its id and rules as of one commit, and the counts of this process's reads. An open
/// store has one handle per name, even for a namespace that does not exist.
final class NamespaceHandle: Sendable {
  let name: String
  let reads = StripedCounters()
  /// The counts of the memories of the namespace, and the sums of the counts of released memories. `reads` does not count hits
  /// without a lookup.
  let memory = Mutex((live: [StripedCounters](), gone: SIMD8<UInt64>()))
  /// The part of the counts of `reads` and `memory` that the store's counters already contain. `epoch` is the commit that last
  /// reset these counters, as read in commit `moment`; 0 before the first read. The last merge, in `commit`, has added `last`.
  private let merged = Mutex(
    (
      counts: ReadCounters(), epoch: 0 as UInt64, moment: 0 as UInt64, last: ReadCounters(),
      commit: 0 as UInt64
    ))
  let known = Mutex<(generation: UInt64, namespace: KnownNamespace)?>(nil)
  private let counted: CountedHandles
  let isListed = Atomic(false)

  // An id and its commit are in one atomic word, so no reader gets a mixture. Id 0 means that no namespace exists.
  private let atTransaction = Atomic<UInt64>(0)
  private let atGeneration = Atomic<UInt64>(0)

  /// The rules that this opening has declared and does not declare again, so that another program's later rules remain. With
  /// the creation time of the namespace, because a rename may give the name to another namespace.
  private let declared = Mutex<[(rules: Rules, created: Int64)]>([])

  init(name: String, listedIn counted: CountedHandles) {
    self.name = name
    self.counted = counted
  }

  @inline(__always)
  private static func stamp(_ moment: UInt64, _ id: UInt32) -> UInt64 { moment &<< 24 | UInt64(id) }

  @inline(__always)
  private static func id(_ stamp: UInt64) -> NamespaceID {
    NamespaceID(rawValue: UInt32(truncatingIfNeeded: stamp & 0xFF_FFFF))
  }

  /// The namespace's id in the snapshot; ``NamespaceID/store`` if the namespace does not exist there.
  @inline(__always)
  func id(
    in transaction: borrowing ReadTransaction, _ seal: RecordSeal
  ) throws(LMDBError) -> NamespaceID {
    let known = atTransaction.load(ordering: .relaxed)
    if known &>> 24 == transaction.id & 0xFF_FFFF_FFFF { return Self.id(known) }
    return try lookUp(in: transaction, seal)
  }

  @inline(never)
  private func lookUp(
    in transaction: borrowing ReadTransaction, _ seal: RecordSeal
  ) throws(LMDBError) -> NamespaceID {
    // If the store's state record is damaged, there is no generation, so the id is remembered only for this snapshot.
    let generation = try transaction.state(seal).map { $0.generation & 0xFF_FFFF_FFFF }
    let known = atGeneration.load(ordering: .relaxed)
    let id: NamespaceID
    if known &>> 24 == generation {
      id = Self.id(known)
    } else {
      let region = try transaction.find(MetadataKey.namespace(name), in: .main)
      let found = region.flatMap {
        NamespaceRecord.id(transaction.bytes(of: $0), name: name, seal: seal)
      }
      id = found ?? .store
      if id != .store { begin(try epoch(of: id, seal, in: transaction), seenAt: transaction.id) }
      if let generation {
        atGeneration.store(Self.stamp(generation, id.rawValue), ordering: .relaxed)
      }
    }
    atTransaction.store(Self.stamp(transaction.id, id.rawValue), ordering: .relaxed)
    return id
  }

  /// The commit with which the statistics of a namespace began; 0 if its counters are damaged or missing.
  private func epoch(
    of id: NamespaceID, _ seal: RecordSeal, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> UInt64 {
    guard let region = try transaction.find(MetadataKey.counters(id), in: .main) else { return 0 }
    return NamespaceCounters(transaction.bytes(of: region), of: id, seal: seal)?.epoch ?? 0
  }

  func noteDeclared(_ rules: Rules, of created: Int64) {
    declared.withLock { declared in
      declared.removeAll { $0.rules == rules }
      declared.append((rules, created))
    }
  }

  /// Whether this opening has declared the rules of the namespace that was made at `created`.
  func hasDeclared(_ rules: Rules, of created: Int64) -> Bool {
    declared.withLock { $0.contains { $0.created == created && $0.rules == rules } }
  }

  @inline(__always)
  func count(_ kind: ReadCounters.Kind, stripe: Int = StripedCounters.shared) {
    reads.count(kind.rawValue, stripe: stripe)
    list()
  }

  func add(_ counters: StripedCounters) {
    memory.withLock { $0.live.append(counters) }
    list()
  }

  func retire(_ counters: StripedCounters) {
    memory.withLock { memory in
      memory.gone &+= counters.totals
      memory.live.removeAll { $0 === counters }
    }
  }

  @inline(__always)
  private func list() { if !isListed.load(ordering: .relaxed) { counted.add(self) } }

  /// The counts that the store's counters do not contain, at the end of the running commit or in the snapshot `moment`.
  func unmerged(at moment: UInt64 = .max) -> ReadCounters {
    let total = total
    return merged.withLock { total - $0.counts + ($0.commit > moment ? $0.last : ReadCounters()) }
  }

  private var total: ReadCounters {
    var total = ReadCounters(counts: reads.totals)
    let found = memory.withLock { memory in memory.live.reduce(memory.gone) { $0 &+ $1.totals } }
    // A revalidated hit needs a lookup, so `reads` has already counted the hit.
    let hits = found[MemoryCount.hits.rawValue]
    total[.hits] &+= hits
    total[.memory] = hits &+ found[MemoryCount.revalidatedHits.rawValue]
    return total
  }

  var hasUnmerged: Bool { unmerged() != ReadCounters() }

  /// Whether the handle must stay in memory, because only the handle knows unmerged counts of an existing namespace, or
  /// the declared rules.
  var isNeeded: Bool { hasUnmerged && !isAbsent || declared.withLock { !$0.isEmpty } }

  /// Whether the last lookup found no namespace. Only the commit that makes the namespace can merge the counts.
  var isAbsent: Bool {
    let known = atGeneration.load(ordering: .relaxed)
    return known != 0 && Self.id(known) == .store
  }

  /// Drops the unmerged counts if commit `epoch`, as read in commit `moment`, has reset the store's counters. A reset changes
  /// the generation, so the first read after a reset calls this method. Counts of concurrent reads may be lost.
  func begin(_ epoch: UInt64, seenAt moment: UInt64) {
    let total = total
    merged.withLock { merged in
      guard moment >= merged.moment else { return }
      merged.moment = moment
      if epoch == merged.epoch { return }
      (merged.counts, merged.commit) = (total, 0)
      merged.epoch = epoch
    }
  }

  func recordMerge(of counts: ReadCounters, in commit: UInt64) {
    merged.withLock {
      $0.last = $0.commit == commit ? $0.last + counts : counts
      ($0.counts, $0.commit) = ($0.counts + counts, commit)
    }
  }

  func revertMerge(of counts: ReadCounters) {
    merged.withLock { ($0.counts, $0.commit) = ($0.counts - counts, 0) }
  }
}
