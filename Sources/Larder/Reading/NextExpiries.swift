import LMDB

extension Store {
  /// When the next entry of each namespace comes to its end, by namespace.
  ///
  /// Looks at 10,000 records of the deadline index at most: a namespace with nothing among them is left out, as is one whose
  /// entries never expire.
  public func nextExpiries() throws(LarderError) -> [String: Timestamp] {
    let transaction = try core.beginRead()
    let listed = try core.namespaces(in: transaction)
    let names = Dictionary(listed.map { ($0.id, $0.facts.name) }) { first, _ in first }
    do throws(LMDBError) {
      let found = try core.nextExpiries(of: Set(names.keys), in: transaction)
      return Dictionary(
        uniqueKeysWithValues: found.map { (names[$0]!, Timestamp(milliseconds: $1)) })
    } catch {
      throw core.error(error)
    }
  }
}

extension StoreCore {
  private static let recordsLookedAt = 5000

  /// Looks behind now, where what is due next lies, and at the front, where entries lie that were refreshed after they
  /// were indexed.
  fileprivate func nextExpiries(
    of wanted: Set<NamespaceID>, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> [NamespaceID: Int64] {
    var earliest: [NamespaceID: Int64] = [:]
    for start in [0, max(clock.now.milliseconds, 0)] {
      try lookForExpiries(from: start, of: wanted, in: transaction, into: &earliest)
    }
    return earliest.filter { $0.value != EntryHeader.never }
  }

  /// An entry is indexed at its end or earlier, never later. So a namespace is settled once the index has come to the
  /// earliest end found for it.
  private func lookForExpiries(
    from start: Int64, of wanted: Set<NamespaceID>, in transaction: borrowing ReadTransaction,
    into earliest: inout [NamespaceID: Int64]
  ) throws(LMDBError) {
    let now = clock.now.milliseconds
    let first = IndexKey.deadline(start, entry: [])
    var open = wanted
    var cursor = try transaction.cursor(in: indexes.deadlines)
    var record = try cursor.seek(first.span)
    var looked = 0
    while let found = record, looked < Self.recordsLookedAt, !open.isEmpty {
      looked += 1
      guard found.key.count > 12 else {
        record = try cursor.next()
        continue
      }
      let indexed: Int64 = found.key.bigEndian(at: 0)
      let slot = found.key.extracting(8..<found.key.count)
      let id = slot.namespaceID
      var isSettled = earliest[id].map { $0 <= indexed } ?? !open.contains(id)
      if !isSettled, let region = try transaction.find(slot, in: .main),
        let header = EntryHeader(transaction.bytes(of: region)), header.expires > now
      {
        earliest[id] = min(earliest[id] ?? .max, header.expires)
        isSettled = header.staleUntil == indexed
      }
      if isSettled {
        // What else the namespace has at that moment says nothing new, and a batch leaves thousands.
        var behind = IndexKey.deadline(indexed, entry: [])
        behind.append(bigEndian: id.rawValue &+ 1)
        if earliest[id].map({ $0 <= indexed }) ?? true { open.remove(id) }
        record = try cursor.seek(behind.span)
      } else {
        record = try cursor.next()
      }
    }
  }
}
