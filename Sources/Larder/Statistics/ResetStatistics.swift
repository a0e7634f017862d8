import LMDB

extension Store {
  /// Lets the counts of reads and removals of every namespace begin anew, for all processes.
  ///
  /// Reads that other processes made before this and have not merged yet do not count either; but for those under way
  /// just now, every later one does. What is stored, and the limits, are not affected. O(namespaces).
  public func resetStatistics() throws(LarderError) {
    try checkWritable()
    try engine.write { batch in
      for name in try batch.names() { try batch.resetStatistics(of: name) }
    }
  }
}

extension Store.Namespace {
  /// Lets the counts of this namespace's reads and removals begin anew; see ``Store/resetStatistics()``.
  ///
  /// Throws ``LarderError/Code/noSuchNamespace`` if there is no such namespace.
  public func resetStatistics() throws(LarderError) {
    try store.checkWritable()
    try engine.write { batch in
      guard try batch.record(named: name) != nil else { throw Store.Namespace.absent(name) }
      try batch.resetStatistics(of: name)
    }
  }
}

extension WriteBatch {
  mutating func resetStatistics(of name: String) throws(LarderError) {
    guard let record = try record(named: name) else { return }
    let old = try loadCounters(record.id)
    var counters = NamespaceCounters(since: now, epoch: transaction.id)
    counters.entries = old.entries
    counters.bytes = old.bytes
    counters.stored = old.stored
    counters.next = old.next
    counters.queue = old.queue
    counters.pinned = old.pinned
    self.counters[record.id] = counters
    // Sends every process's next read to the catalogue, where it sees that its older ones do not count.
    state.generation &+= 1
  }
}
