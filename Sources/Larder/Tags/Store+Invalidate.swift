extension Store {
  /// Removes every entry that carries the tag, of whatever namespace, and what belongs to it; returns what carried it.
  ///
  /// No process finds one of them any more once the first transaction is committed: those that are not removed in it are
  /// hidden. Entries written afterwards may carry the tag again and are not affected. O(entries with the tag), in
  /// transactions of at most 500; if the process is killed in between, later writes of any process do the rest.
  @discardableResult
  public func invalidate(tag: String) throws(LarderError) -> RemovalResult {
    try engine.invalidate(tag, in: nil, store: self)
  }
}

extension Store.Namespace {
  /// Removes every entry of this namespace that carries the tag; see ``Store/invalidate(tag:)``.
  @discardableResult
  public func invalidate(tag: String) throws(LarderError) -> RemovalResult {
    try engine.invalidate(tag, in: name, store: store)
  }
}

extension StoreEngine {
  fileprivate func invalidate(
    _ tag: String, in namespace: String?, store: Store
  ) throws(LarderError) -> RemovalResult {
    try store.checkWritable()
    let tag = try EntryAttributes.validated(tag)
    var (total, tombstone) = try write { batch in
      batch.leavesQueue = true
      return try batch.invalidate(tag, in: namespace, limit: WriteBatch.invalidatedPerBatch)
    }
    while let key = tombstone {
      let (removal, shouldContinue) = try write { batch in
        batch.leavesQueue = true
        return try batch.bury(key, limit: WriteBatch.invalidatedPerBatch)
      }
      total += removal
      if !shouldContinue { tombstone = nil }
    }
    return total
  }
}
