/// The effects of a batch on the memory of this process: confirmed after the commit, or undone after a rollback.
struct BatchEffects {
  static let expirationsPerWrite = 64

  var reads: [(handle: NamespaceHandle, counts: ReadCounters)] = []
  var expirations: [(key: [UInt8], item: UInt64)] = []
  var accesses: [(key: [UInt8], item: PendingAccesses.Use)] = []
  var declared: [(handle: NamespaceHandle, rules: Rules, created: Int64)] = []
  /// The number that ``RemovalTable`` gave to the removals of the batch; nil if the batch removed nothing.
  var removal: UInt64?
  /// Whether the batch has made a removal that could not be recorded.
  var lacksRemoval = false
  var changes: PendingChanges?
  /// Whether the batch made changes without a subscription. False after the batch if there never was a subscription.
  var hasUnrecordedChanges = false
  var entries: UInt64 = 0
  var orphans: UInt64 = 0

  func confirm(in engine: StoreEngine) {
    if let removal { engine.removalTable.finish(removal) }
    changes?.publish()
    engine.leftovers.expirations.queue.confirm(expirations)
    engine.fitAccess(to: entries)
    engine.leftovers.accesses.queue.confirm(accesses)
    for (handle, rules, created) in declared { handle.noteDeclared(rules, of: created) }
  }

  func rollBack(in engine: StoreEngine) {
    for (handle, counts) in reads { handle.revertMerge(of: counts) }
    if let removal { engine.removalTable.finish(removal) }
    engine.leftovers.expirations.queue.requeue(expirations[...])
    engine.leftovers.accesses.queue.requeue(accesses[...])
  }
}

extension WriteSession {
  /// Removes up to `limit` expired entries that readers found, if the clock is trusted. Returns the number taken from the queue.
  @discardableResult
  mutating func removePendingExpirations(limit: Int) throws(LarderError) -> Int {
    let taken = engine.leftovers.expirations.take(limit)
    effects.expirations += taken
    guard !taken.isEmpty, isClockPlausible else { return taken.count }
    for (entryKey, version) in taken where try isLive(entryKey.span.namespaceID) {
      let next = try counters(of: entryKey.span.namespaceID).next
      // An entry with a version from `next` on is only in the write buffer, so a later commit removes the entry.
      if next > 1, version >= next {
        engine.leftovers.expirations.queue.requeue([(entryKey, version)])
      } else if case .entry(let entry) = try contents(of: entryKey), state(of: entry) == .expired {
        try remove(entry, reason: .expired)
      }
    }
    return taken.count
  }

  mutating func mergeReadCounters() throws(LarderError) {
    for handle in engine.counted.unmerged() {
      // The counts of a damaged namespace stay in memory. After any other error, the batch cannot be committed.
      guard let id = (try? namespace(handle.name))?.id else { continue }
      let epoch = try counters(of: id).epoch
      if epoch < transaction.id {
        handle.begin(epoch, seenAt: transaction.id - 1)
      } else if !ledger.isNew(id) {
        // This batch has reset the counters. The counts in memory are of reads before the reset, so these counts are not added.
        continue
      }
      let pending = handle.unmerged()
      try update(id) { counters in
        for kind in ReadCounters.Kind.allCases { counters.reads[kind] &+= pending[kind] }
      }
      handle.recordMerge(of: pending, in: transaction.id)
      effects.reads.append((handle, pending))
    }
  }
}
