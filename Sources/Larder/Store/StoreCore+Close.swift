import LMDB

extension StoreCore {
  /// Writes what waits: removals that reads asked for and the counts of reads.
  func flush() throws(LarderError) {
    while !removals.isEmpty {
      try write { batch in try batch.removeQueued(limit: RemovalQueue.capacity) }
    }
    if allHandles.contains(where: { $0.unmerged() != ReadCounters() }) { try write { _ in } }
  }

  func close(flushing: Bool) throws(LarderError) {
    guard environment.isOpen else { return }
    defer { environment.close() }
    if flushing { try flush() }
  }

  /// Counting and statistics first see to the removals this process has queued.
  func settle(_ store: Store) throws(LarderError) {
    if !store.isReadOnly, !removals.isEmpty { try flush() }
  }
}
