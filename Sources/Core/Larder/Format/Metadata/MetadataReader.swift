import LMDB
import LarderSystem

struct MetadataReader: Sendable {
  let environment: Environment
  let seal: RecordSeal

  typealias ListedNamespace = (id: NamespaceID, facts: NamespaceInfo, counters: NamespaceCounters)

  /// The settings of the store. Each store has a record of settings. If the record is not found, its key is damaged.
  func settings(in transaction: borrowing ReadTransaction) throws(LarderError) -> StoreSettings {
    let bytes = try copy(of: MetadataKey.settings, in: transaction) ?? []
    return try StoreSettings(bytes.span, seal: seal)
  }

  func record(
    named name: String, in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> NamespaceRecord? {
    guard let bytes = try copy(of: MetadataKey.namespace(name), in: transaction) else { return nil }
    return try NamespaceRecord(bytes.span, name: name, seal: seal)
  }

  func counters(
    of id: NamespaceID, in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> NamespaceCounters {
    if id == .store { return NamespaceCounters() }
    // Each namespace has a record of counters. If the record is not found, its key is damaged.
    if let bytes = try copy(of: MetadataKey.counters(id), in: transaction),
      let counters = NamespaceCounters(bytes.span, of: id, seal: seal)
    {
      return counters
    }
    throw LarderError(
      .damaged, "\(environment.path): the counters of a namespace are damaged",
      hint: "write to the namespace: a write counts its entries again")
  }

  func readHistory(in transaction: borrowing ReadTransaction) throws(LarderError) -> ReadHistory {
    ReadHistory(try copy(of: MetadataKey.readHistory, in: transaction) ?? [], seal: seal)
  }

  private func copy(
    of key: [UInt8], in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> [UInt8]? {
    do throws(LMDBError) { return try transaction.value(for: key.span, in: .main)?.copied } catch {
      throw environment.larderError(error)
    }
  }

  func namespaces(
    in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> [ListedNamespace] {
    try namespaceRecords(in: transaction).map { found throws(LarderError) in
      let record = try NamespaceRecord(found.record.span, name: found.name, seal: seal)
      return try listed(record, name: found.name, in: transaction)
    }
  }

  func namespaceRecords(
    in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> [(name: String, record: [UInt8])] {
    var records: [(name: String, record: [UInt8])] = []
    let prefix = MetadataKey.namespaces
    do throws(LMDBError) {
      try transaction.forEach(in: .main, from: prefix) { key, record throws(LMDBError) in
        let name = key.extracting(prefix.count..<key.count).copied
        records.append((String(decoding: name, as: UTF8.self), record.copied))
      }
    } catch { throw environment.larderError(error) }
    return records
  }

  func listed(
    _ record: NamespaceRecord, name: String, in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> ListedNamespace {
    let counters = try counters(of: record.id, in: transaction)
    let facts = NamespaceInfo(
      name: name, entries: Int(clamping: counters.entries), bytes: Int(clamping: counters.bytes),
      storedSize: Int(clamping: counters.stored), created: Timestamp(milliseconds: record.created),
      declared: record.rules.declared, overrides: record.rules.overrides)
    return (record.id, facts, counters)
  }
}
