import LMDB
import LarderSystem

/// Removing many entries.
extension Store.Namespace {
  /// Removes every entry at once; O(1), later writes and ``purge()`` reclaim the space in steps.
  ///
  /// When it returns no reader in any process finds an entry that was there before. A value whose load began before is not
  /// stored. Subscribers get ``Change/Kind/cleared``, even if there was no entry.
  @discardableResult
  public func clear() throws(LarderError) -> RemovalResult {
    try store.checkWritable()
    let removal = try engine.commit { batch in try batch.clear(self) }
    engine.memory.removeAll(of: name)
    return removal
  }

  /// Removes this namespace's expired entries and returns how many; O(those). See ``Store/purge()``.
  @discardableResult
  public func purge() throws(LarderError) -> RemovalResult {
    try store.checkWritable()
    return try Purge(engine).run(only: name)
  }

  /// Removes every entry whose key begins with `prefix`, in transactions of at most 1,000 entries, and returns how many.
  ///
  /// Entries that are written meanwhile may stay. With an empty prefix ``clear()`` does the same at once.
  /// O(entries with the prefix).
  @discardableResult
  public func remove(prefix: some StoreKey) throws(LarderError) -> RemovalResult {
    try store.checkWritable()
    let prefix = prefix.copied
    var total = RemovalResult()
    var position: [UInt8]?
    while true {
      let (keys, reached) = try keys(prefix: prefix, behind: position)
      if !keys.isEmpty {
        let removed = try engine.commit { batch in
          var removed = RemovalResult()
          for key in keys {
            guard let entry = try batch.entry(for: key, in: self) else { continue }
            if try batch.remove(key, from: self) {
              removed.entries += 1
              removed.bytes += entry.size
            }
          }
          return removed
        }
        total.entries += removed.entries
        total.bytes += removed.bytes
      }
      guard let reached else { return total }
      position = reached
    }
  }

  /// The keys of a thousand entries at most, and where to go on; nil at the end.
  private func keys(
    prefix: [UInt8], behind position: [UInt8]?
  ) throws(LarderError) -> (keys: [Key], next: [UInt8]?) {
    let transaction = try engine.beginRead()
    let id = try engine.reader.identify(handle, in: transaction)
    if id == .store || (position.map { $0.span.namespaceID != id } ?? false) { return ([], nil) }
    var keys: [Key] = []
    let reached = try engine.typed {
      try engine.reader.scan(id, prefix: prefix, behind: position, in: transaction) { _, key, _ in
        keys.append(Key(key))
        return true
      }
    }
    return (keys, reached.isAtEnd ? nil : reached.last)
  }
}
