import LMDB
import LarderSystem
import Synchronization

/// The effects of a batch in this process. They are confirmed after the commit of the batch, or undone after a rollback.
struct BatchEffects {
  /// The most expired entries, found by readers, that one write removes beside its own work.
  static let expirationsPerWrite = 64

  var reads: [(handle: NamespaceHandle, counts: ReadCounters)] = []
  var expirations: [(key: [UInt8], item: Void)] = []
  var accesses: [(key: [UInt8], item: PendingAccesses.Use)] = []
  var declared: [(handle: NamespaceHandle, rules: Rules)] = []
  /// The number that ``RemovalTable`` gave to the removals of the batch; nil without removals.
  var removal: UInt64?
  var changes: PendingChanges?
  /// Whether the batch made changes without a subscriber, in a store that once had a subscriber.
  var hasUnrecordedChanges = false
  var entries: UInt64 = 0
  /// The number of removed owners whose dependents are still stored after the commit.
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
  /// Removes up to `limit` entries that readers have found expired, if they are still expired and the clock is trusted.
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
        // The counts of a damaged namespace wait; the counts of other namespaces must not.
        continue
      }
      guard let id else { continue }
      let epoch = try session.counters(of: id).epoch
      if epoch < session.transaction.id {
        handle.begin(epoch, seenAt: session.transaction.id - 1)
      } else if !session.ledger.isNew(id) {
        // This batch has reset the counters; the pending reads happened before the reset.
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
