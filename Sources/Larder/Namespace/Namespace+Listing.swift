import LMDB

extension Namespace {
  /// The facts of up to `limit` entries in key order, behind `cursor`; entries that have expired are left out.
  ///
  /// Going from page to page lists every entry that is there throughout exactly once, whatever is written meanwhile.
  /// Throws ``LarderError/Code/badCursor`` for a cursor that is malformed or of another namespace.
  public func page(
    limit: Int = 100, after cursor: PageCursor? = nil, prefix: some StoreKey = [UInt8]()
  ) throws -> Page<Entry> {
    var items: [Entry] = []
    var last: PageCursor?
    var isMore = false
    try scan(prefix: prefix, after: cursor) { entry, _ in
      if items.count >= max(limit, 1) {
        isMore = true
        return false
      }
      items.append(entry)
      last = self.cursor(at: entry)
      return true
    }
    return Page(items: items, next: isMore ? last : nil)
  }

  /// Visits entries in key order with their facts and bytes, until `visit` answers false.
  ///
  /// No snapshot is held for longer than a thousand entries, so the whole is no single moment. The bytes cannot leave
  /// `visit`; keep it short, as nothing can free their pages meanwhile. Damaged entries are passed over.
  public func scan(
    prefix: some StoreKey = [UInt8](), after cursor: PageCursor? = nil,
    includingExpired: Bool = false,
    _ visit: (Entry, Span<UInt8>) throws -> Bool
  ) throws {
    let prefix = try prefix.withKeyBytes { $0.copied }
    var position: [UInt8]?
    var isFirst = true
    while true {
      let transaction = try core.beginRead()
      let id = try core.identify(handle, in: transaction)
      if isFirst, let cursor {
        position = try cursor.slot(store: core.identity, id: id, namespace: name)
      }
      // A namespace that is cleared midway has nothing left to show.
      if id == .store || (position.map { $0.span.namespaceID != id } ?? false) { return }
      isFirst = false
      var isWanted = true
      let reached = try core.scan(id, prefix: prefix, behind: position, in: transaction) {
        entry, key, payload in
        let facts = core.facts(of: entry, key: Key(key), namespace: name)
        if facts.state == .expired, !includingExpired { return true }
        if entry.header.flags.contains(.chunked) {
          guard
            let value = try core.assemble(payload, id: id, version: facts.version, in: transaction)
          else {
            return true
          }
          isWanted = try visit(facts, value.span)
        } else {
          isWanted = try visit(facts, payload)
        }
        return isWanted
      }
      if reached.isAtEnd || !isWanted { return }
      position = reached.last
    }
  }

  /// A cursor behind `key`, whether or not there is such an entry.
  public func cursor(after key: some StoreKey) throws -> PageCursor {
    let transaction = try core.beginRead()
    let id = try core.identify(handle, in: transaction)
    return try key.withKeyBytes { key in
      PageCursor(store: core.identity, slot: StoredKey.entry(key, in: id))
    }
  }

  private func cursor(at entry: Entry) -> PageCursor? {
    do { return try cursor(after: entry.key) } catch { return nil }
  }

  /// How many entries are stored, expired ones that nobody has removed yet included.
  ///
  /// Removals that this process's reads have asked for are carried out first. O(1).
  public func count() throws -> Int {
    try core.settle(store)
    let transaction = try core.beginRead()
    let id = try core.identify(handle, in: transaction)
    return Int(clamping: try core.counters(of: id, in: transaction).entries)
  }

  /// Removes every entry at once; O(1), the space is reclaimed in steps by later writes and by ``purge()``.
  ///
  /// When it returns no reader in any process finds an entry that was there before.
  @discardableResult
  public func clear() throws -> Removal {
    try store.checkWritable()
    return try core.write { batch in try batch.clear(name) }
  }

  /// Removes this namespace's expired entries and returns exactly how many. See ``Store/purge()``.
  @discardableResult
  public func purge() throws -> Removal {
    try store.checkWritable()
    return try core.purge(only: self)
  }
}

extension StoreCore {
  func counters(
    of id: NamespaceID, in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> NamespaceCounters {
    do throws(LMDBError) {
      guard id != .store, let region = try transaction.find(CatalogueKey.counters(id), in: .main)
      else {
        return NamespaceCounters()
      }
      return NamespaceCounters(transaction.bytes(of: region))
    } catch {
      throw self.error(error)
    }
  }
}
