import LMDB
import LarderSystem
import Synchronization

/// The effects of a batch on the memory of this process: confirmed after the commit, or undone after a rollback.
struct BatchEffects {
  /// Besides its own work, a write removes at most this number of expired entries that readers have found.
  static let expirationsPerWrite = 64

  var reads: [(handle: NamespaceHandle, counts: ReadCounters)] = []
  var expirations: [(key: [UInt8], item: Void)] = []
  var accesses: [(key: [UInt8], item: PendingAccesses.Use)] = []
  var declared: [(handle: NamespaceHandle, rules: Rules)] = []
  /// The number that ``RemovalTable`` gave to the removals of the batch; nil if the batch removed nothing.
  var removal: UInt64?
  var changes: PendingChanges?
  /// Whether the batch made changes while no subscriber existed, in a store that had a subscriber at an earlier time.
  var hasUnrecordedChanges = false
  var entries: UInt64 = 0
  /// The number of removed owners whose dependents the batch has not removed yet.
  var orphans: UInt64 = 0

  func confirm(in engine: StoreEngine) {
    if let removal { engine.removalTable.finish(removal) }
    changes?.publish()
    if hasUnrecordedChanges { engine.changes.recordGap() }
    engine.leftovers.expirations.queue.confirm(expirations)
    engine.fitAccess(to: entries)
    engine.leftovers.accesses.queue.confirm(accesses)
    for (handle, rules) in declared { handle.noteDeclared(rules) }
  }

  func rollBack(in engine: StoreEngine) {
    for (handle, counts) in reads { handle.revertMerge(of: counts) }
    if let removal { engine.removalTable.finish(removal) }
    changes?.discard()
    engine.leftovers.expirations.queue.requeue(expirations[...])
    engine.leftovers.accesses.queue.requeue(accesses[...])
  }
}

extension WriteBatch {
  /// Removes up to `limit` entries that readers found expired and that still are expired; none if the clock is not trusted.
  mutating func removePendingExpirations(limit: Int) throws(LarderError) {
    let taken = session.engine.leftovers.expirations.take(limit)
    effects.expirations += taken
    guard session.isClockPlausible else { return }
    for (entryKey, _) in taken {
      guard case .entry(let entry) = try session.contents(of: entryKey),
        entry.header.state(at: session.now.milliseconds) == .expired
      else { continue }
      if try session.isLive(entry.id) { try session.remove(entry, reason: .expired) }
    }
  }

  mutating func mergeReadCounters() throws(LarderError) {
    for handle in session.engine.handlesWithCounts {
      let id: NamespaceID?
      do throws(LarderError) {
        id = try session.namespace(handle.name)?.id
      } catch  where session.transaction.failure == nil {
        // This namespace is damaged, so its counts stay in memory. The counts of the other namespaces are still written.
        continue
      }
      guard let id else { continue }
      let epoch = try session.counters(of: id).epoch
      if epoch < session.transaction.id {
        handle.begin(epoch, seenAt: session.transaction.id - 1)
      } else if !session.ledger.isNew(id) {
        // This batch has reset the counters. The counts in memory are of reads before the reset, so they are not added.
        continue
      }
      let pending = handle.unmerged()
      try session.update(id) { counters in
        for kind in ReadCounters.Kind.allCases { counters.reads[kind] &+= pending[kind] }
      }
      handle.recordMerge(of: pending)
      effects.reads.append((handle, pending))
    }
  }
}
