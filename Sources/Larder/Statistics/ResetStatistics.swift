import LMDB
import LarderSystem

extension Store {
  /// Sets the counts of reads and removals of every namespace to zero, for all processes.
  ///
  /// Earlier reads that other processes have not merged yet do not count either. Reads under way may or may not count.
  /// Entries and limits are not affected. O(namespaces).
  public func resetStatistics() throws(LarderError) {
    try checkWritable()
    try engine.commit { batch in
      for name in try batch.writer.names() { try batch.resetStatistics(of: name) }
    }
  }
}

extension Store.Namespace {
  /// Sets the counts of this namespace's reads and removals to zero; see ``Store/resetStatistics()``.
  ///
  /// Throws ``LarderError/Code/noSuchNamespace`` if there is no such namespace.
  public func resetStatistics() throws(LarderError) {
    try store.checkWritable()
    try engine.commit { batch in
      guard try batch.writer.namespace(name) != nil else { throw Store.Namespace.absent(name) }
      try batch.resetStatistics(of: name)
    }
  }
}
