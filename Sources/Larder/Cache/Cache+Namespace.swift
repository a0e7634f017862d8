import LarderSystem

/// The namespace's verbs, which need no codec.
extension Cache {
  /// Whether there is a fresh entry under `key`; decodes nothing and counts as no read.
  public func contains(_ key: some StoreKey) throws(LarderError) -> Bool {
    try namespace.contains(key)
  }

  /// The entry under `key`, expired ones included, or nil. Decodes nothing and counts as no read.
  public func entry(for key: some StoreKey) throws(LarderError) -> Store.Entry? {
    try namespace.entry(for: key)
  }

  /// Up to `limit` entries in key order, after `cursor`; see ``Store/Namespace/page(limit:after:prefix:)``.
  public func page(
    limit: Int = 100, after cursor: PageCursor? = nil, prefix: some StoreKey = [UInt8]()
  ) throws(LarderError) -> Page<Store.Entry> {
    try namespace.page(limit: limit, after: cursor, prefix: prefix)
  }

  /// How many entries are stored; see ``Store/Namespace/count()``.
  public func count() throws(LarderError) -> Int { try namespace.count() }

  /// The namespace's size and rules; nil if it does not exist. O(log namespaces).
  public func info() throws(LarderError) -> NamespaceInfo? { try namespace.info() }

  /// The namespace's figures; see ``Store/Namespace/statistics()``.
  public func statistics() throws(LarderError) -> Statistics.Namespace? {
    try namespace.statistics()
  }

  /// The changes of the namespace's entries by every process; see ``Store/changes(in:)``.
  public func changes() -> Changes { namespace.changes() }

  /// Removes every entry at once; see ``Store/Namespace/clear()``.
  @discardableResult
  public func clear() throws(LarderError) -> RemovalResult { try namespace.clear() }

  /// Removes the expired entries; see ``Store/Namespace/purge()``.
  @discardableResult
  public func purge() throws(LarderError) -> RemovalResult { try namespace.purge() }

  /// Removes every entry whose key begins with `prefix`; see ``Store/Namespace/remove(prefix:)``.
  @discardableResult
  public func remove(prefix: some StoreKey) throws(LarderError) -> RemovalResult {
    try namespace.remove(prefix: prefix)
  }

  /// Removes every entry that carries the tag; see ``Store/Namespace/invalidate(tag:)``.
  @discardableResult
  public func invalidate(tag: String) throws(LarderError) -> RemovalResult {
    try namespace.invalidate(tag: tag)
  }
}
