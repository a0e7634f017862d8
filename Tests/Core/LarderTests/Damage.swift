import Foundation
import LMDB
import LarderSystem
import Testing

@testable import Larder

func changeDataFile(of path: String, _ body: (inout Data) throws -> Void) throws {
  let file = URL(fileURLWithPath: path + "/data.mdb")
  var data = try Data(contentsOf: file)
  try body(&data)
  try data.write(to: file)
}

extension WriteTransaction {
  @discardableResult
  mutating func remove(_ key: [UInt8], from database: Database) throws(LMDBError) -> Bool {
    try remove(key.span, from: database)
  }
}

extension Store {
  /// Changes the databases directly, to simulate damage or a fault in the library.
  func tamper(_ body: (inout WriteTransaction, Indexes) throws -> Void) throws {
    try engine.environment.write { transaction in try body(&transaction, engine.indexes) }
  }

  func plant(_ record: [UInt8], for key: [UInt8], in database: Database = .main) throws {
    try tamper { transaction, _ in try transaction.put(record, for: key, in: database) }
  }

  /// The state of the store. A damaged record of the state fails the test.
  var state: StoreState { get throws { try #require(try engine.beginRead().state(engine.seal)) } }

  func tamperState(_ change: (inout StoreState) -> Void) throws {
    var state = try state
    change(&state)
    try plant(state.record(seal: engine.seal), for: MetadataKey.state)
  }

  /// Runs `body` in a batch. Then simulates a kill of the process: after the commit if `commits`, else before the commit.
  func writeAndDie(commits: Bool, _ body: (inout WriteBatch) throws -> Void) throws {
    do {
      try engine.environment.write { transaction in
        let ledger = try engine.writes.committed.begin(transaction, engine.seal)
        var batch = WriteBatch(transaction, ledger, engine: engine)
        do { try body(&batch) } catch {
          transaction = batch.end()
          throw error
        }
        transaction = batch.end()
        if !commits { throw Stop() }
      }
    } catch is Stop {}
  }

  func keys(in database: (Indexes) -> Database) throws -> [[UInt8]] {
    try engine.beginRead().keys(in: database(engine.indexes))
  }

  var faults: Set<Verification.Inconsistency.Kind> {
    get throws { Set(try verify().faults.map(\.kind)) }
  }
}

extension NamespaceCounters {
  func record(of id: NamespaceID, seal: RecordSeal) -> [UInt8] {
    [UInt8](count: Self.recordSize) { write(to: &$0, of: id, seal: seal) }
  }
}

extension Store.Namespace {
  var id: NamespaceID { get throws { try engine.reader.identify(handle, in: engine.beginRead()) } }

  /// The key under which the database of entries stores the entry.
  func slot(_ key: some StoreKey) throws -> [UInt8] {
    let id = try id
    return key.withKeyBytes { StoredKey.entry($0, in: id) }
  }

  func record(_ key: some StoreKey) throws -> [UInt8] {
    let transaction = try engine.beginRead()
    let region = try #require(try transaction.find(slot(key), in: .entries))
    return transaction.bytes(of: region).copied
  }

  func header(_ key: some StoreKey) throws -> EntryHeader {
    let record = try record(key)
    guard let header = EntryHeader(record.span) else { throw LarderError(.damaged, "no header") }
    return header
  }

  /// The record of an entry with a changed header or changed fields, and with the checksum of the changed record.
  func resealed(
    _ key: some StoreKey, _ change: (inout EntryHeader, inout EntryFields) -> Void
  ) throws -> [UInt8] {
    let id = try id
    let record = try record(key)
    guard var header = EntryHeader(record.span),
      var fields = EntryFields(record.span.extracting(header.fieldsRange))
    else { throw LarderError(.damaged, "no entry") }
    let value = Array(record[header.payloadStart...])
    change(&header, &fields)
    let encoded = fields.encoded()
    header.fieldsCount = UInt32(encoded.count)
    let keyHash = key.withKeyBytes { Checksum.keyHash(of: $0, in: id) }
    return [UInt8](count: header.form.size + encoded.count + value.count) { bytes in
      header.append(to: &bytes, header.form)
      bytes.append(contentsOf: (encoded + value).span)
      EntryHeader.seal(&bytes, keyHash: keyHash)
    }
  }

  func tamper(_ key: some StoreKey, _ change: (inout [UInt8]) -> Void) throws {
    var record = try record(key)
    change(&record)
    try store.plant(record, for: try slot(key), in: .entries)
  }
}

extension ReadTransaction {
  func keys(in database: Database) throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    var cursor = try cursor(in: database)
    while let record = try cursor.next() { keys.append(record.key.copied) }
    return keys
  }
}
