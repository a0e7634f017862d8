import LMDB
import LarderSystem

extension Store.Namespace {
  /// The facts of up to `limit` entries in key order, behind `cursor`; entries that have expired are left out.
  ///
  /// Going from page to page lists every entry that is there throughout exactly once, whatever is written meanwhile.
  /// Throws ``LarderError/Code/badCursor`` for a cursor that is malformed or of another namespace, and
  /// ``LarderError/Code/invalidArgument`` for a limit below 1.
  public func page(
    limit: Int = 100, after cursor: PageCursor? = nil, prefix: some StoreKey = [UInt8]()
  ) throws -> Page<Store.Entry> {
    guard limit >= 1 else {
      throw LarderError(
        .invalidArgument, "a page of \(limit) entries is not possible", hint: "ask for 1 or more")
    }
    var items: [Store.Entry] = []
    var last: [UInt8] = []
    var isMore = false
    let prefix = try prefix.withKeyBytes { $0.copied }
    try visitEntries(prefix: prefix, after: cursor, includingExpired: false) { found, facts, _, _ in
      isMore = items.count >= limit
      if isMore { return false }
      items.append(facts)
      last = found.slot
      return true
    }
    return Page(items: items, next: isMore ? PageCursor(store: engine.identity, slot: last) : nil)
  }

  /// A cursor behind `key`, whether or not there is such an entry.
  public func cursor(after key: some StoreKey) throws -> PageCursor {
    let transaction = try engine.beginRead()
    let id = try engine.identify(handle, in: transaction)
    return try key.withKeyBytes { key in
      guard (1...Key.longest).contains(key.count) else {
        throw LarderError(
          .invalidArgument, "there is no place behind a key of \(key.count) bytes",
          hint: "use 1 to \(Key.longest) bytes")
      }
      return PageCursor(store: engine.identity, slot: StoredKey.entry(key, in: id))
    }
  }

  /// How many entries are stored, expired ones that nobody has removed yet included.
  ///
  /// Removals that this process's reads have asked for are carried out first. O(1).
  public func count() throws -> Int {
    try engine.settle(store)
    let transaction = try engine.beginRead()
    let id = try engine.identify(handle, in: transaction)
    return Int(clamping: try engine.counters(of: id, in: transaction).entries)
  }

  /// Removes every entry at once; O(1), the space is reclaimed in steps by later writes and by ``purge()``.
  ///
  /// When it returns no reader in any process finds an entry that was there before. What is loaded for it meanwhile is not
  /// stored, and those who watch are told, even if there was nothing in it.
  @discardableResult
  public func clear() throws -> RemovalResult {
    try store.checkWritable()
    let removal = try engine.write { batch in try batch.clear(name) }
    engine.memory.removeAll(of: name)
    return removal
  }

  /// Removes this namespace's expired entries and returns exactly how many; O(those). See ``Store/purge()``.
  @discardableResult
  public func purge() throws -> RemovalResult {
    try store.checkWritable()
    return try engine.purge(only: self)
  }
}

extension StoreEngine {
  func counters(
    of id: NamespaceID, in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> NamespaceCounters {
    do throws(LMDBError) {
      guard id != .store, let region = try transaction.find(MetadataKey.counters(id), in: .main)
      else {
        return NamespaceCounters()
      }
      return NamespaceCounters(transaction.bytes(of: region))
    } catch {
      throw self.error(error)
    }
  }
}
