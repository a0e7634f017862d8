import LMDB

/// Scans of many entries, in snapshots of at most 500 entries and about 4 MB each.
extension Store.Namespace {
  /// Visits entries in key order until `visit` returns false. Counts neither as a read nor as an access. Skips damaged entries.
  ///
  /// After at most 500 entries the scan commits the write buffer and begins a new snapshot. So the entries come from several
  /// snapshots. The bytes are valid only in `visit`. Keep `visit` short, because a snapshot prevents the reuse of freed pages.
  public func scan(
    prefix: some StoreKey = [UInt8](), after cursor: PageCursor? = nil,
    includingExpired: Bool = false, _ visit: (Store.Entry, Span<UInt8>) throws -> Bool
  ) throws {
    try scanEntries(
      prefix: prefix.copied, after: cursor, includingExpired: includingExpired, readsValues: true,
      visit)
  }

  /// Like ``scan(prefix:after:includingExpired:_:)``, but only for entries that pass `isWanted` and whose keys pass `hasKey`.
  /// Undoes transforms only for these entries. If `readsValues` is false, reads no values, and `visit` gets no bytes. Calls
  /// `damaged` for each damaged entry, and then skips the entry.
  package func scanEntries(
    prefix: [UInt8] = [], after cursor: PageCursor? = nil, includingExpired: Bool = false,
    readsValues: Bool = false, damaged: () -> Void = {},
    whereKey hasKey: ([UInt8]) throws -> Bool = { _ in true },
    where isWanted: (Store.Entry) throws -> Bool = { _ in true },
    _ visit: (Store.Entry, Span<UInt8>) throws -> Bool
  ) throws {
    try visitEntries(
      prefix: prefix, after: cursor, includingExpired: includingExpired, damaged: damaged,
      where: hasKey
    ) { found, facts, payload, transaction in
      guard try isWanted(facts) else { return true }
      guard readsValues else { return try visit(facts, Span()) }
      if let shouldContinue = try engine.reader.withValue(
        of: found, payload, key: facts.key.bytes, in: transaction, { try visit(facts, $0) })
      {
        return shouldContinue
      }
      damaged()
      return true
    }
  }

  /// Like ``scan(prefix:after:includingExpired:_:)``, but visits only keys and values of fresh entries, several times as fast.
  ///
  /// The scan checks the expiry for groups of at most 64 entries, so an entry may expire before `visit` gets the entry.
  public func scanValues(
    prefix: some StoreKey = [UInt8](), after cursor: PageCursor? = nil,
    _ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Bool
  ) throws {
    let prefix = prefix.copied
    try walk(after: cursor) { id, position, transaction, isWanted in
      try engine.reader.scanValues(id, prefix: prefix, behind: position, in: transaction) {
        key, value in
        isWanted = try visit(key, value)
        return isWanted
      }
    }
  }

  /// Visits the keys of entries that have not expired, or only of fresh values, in key order until `visit` returns false.
  package func scanKeys(
    prefix: [UInt8] = [], after cursor: PageCursor? = nil, areFresh: Bool = false,
    damaged: () -> Void = {}, _ visit: (Span<UInt8>) throws -> Bool
  ) throws {
    try walk(after: cursor) { id, position, transaction, isWanted in
      try engine.reader.scanKeys(
        id, prefix: prefix, behind: position, areFresh: areFresh, in: transaction, damaged: damaged
      ) {
        isWanted = try visit($0)
        return isWanted
      }
    }
  }

  /// Visits entries with their payloads, in one snapshot after another. Skips entries with an invalidated tag. Calls `damaged`
  /// for each damaged entry, and skips the entry. Makes a `Store.Entry` only if the key passes `hasKey`.
  func visitEntries(
    prefix: [UInt8], after cursor: PageCursor?, includingExpired: Bool,
    damaged: () -> Void = {}, where hasKey: ([UInt8]) throws -> Bool = { _ in true },
    _ visit: (StoredEntry, Store.Entry, Span<UInt8>, borrowing ReadTransaction) throws -> Bool
  ) throws {
    try walk(after: cursor) { id, position, transaction, isWanted in
      let reader = engine.reader
      var names: [NamespaceID: String] = [:]
      return try reader.scanRecords(
        id, prefix: prefix, behind: position, verifiesPlain: false, in: transaction
      ) { found in
        let record = found.record
        guard
          let (entry, key) = try reader.intactEntry(
            found.entryKey, record, id, prefix, in: transaction, damaged: damaged), try hasKey(key)
        else { return true }
        let facts = reader.facts(
          of: entry, key: Key(key), namespace: name,
          owners: try reader.owners(of: entry, &names, in: transaction))
        if facts.state == .expired, !includingExpired { return true }
        let payload = record.extracting(entry.header.payloadStart..<record.count)
        isWanted = try visit(entry, facts, payload, transaction)
        return isWanted
      }
    }
  }

  /// Passes the namespace's id and a snapshot to `body`, which must not call code of the user. Returns `absent` if the namespace
  /// does not exist, or was cleared, renamed or removed after the reading of the entry key `position`.
  func inSnapshot<Result>(
    behind position: [UInt8]? = nil, ifAbsent absent: Result,
    _ body: (NamespaceID, borrowing ReadTransaction) throws -> Result
  ) throws(LarderError) -> Result {
    let transaction = try engine.beginRead()
    let id = try engine.reader.identify(handle, in: transaction)
    if id == .store || position.map({ $0.span.namespaceID != id }) == true { return absent }
    return try engine.typed { try body(id, transaction) }
  }

  /// Visits the namespace in pieces, each with a snapshot of its own, until `piece` returns nil or sets `isWanted` to false.
  private func walk(
    after cursor: PageCursor?,
    _ piece: (
      NamespaceID, [UInt8]?, borrowing ReadTransaction, _ isWanted: inout Bool
    ) throws -> [UInt8]?
  ) throws {
    var position: [UInt8]?
    var isWanted = true
    while true {
      let transaction = try engine.beginRead()
      let id = try engine.reader.identify(handle, in: transaction)
      if position == nil, let cursor {
        position = try cursor.entryKey(store: engine.identity, id: id, namespace: name)
      }
      // If the namespace is cleared, renamed or removed between two pieces, the walk ends.
      if id == .store || (position.map { $0.span.namespaceID != id } ?? false) { return }
      guard let reached = try piece(id, position, transaction, &isWanted), isWanted else { return }
      position = reached
    }
  }
}
