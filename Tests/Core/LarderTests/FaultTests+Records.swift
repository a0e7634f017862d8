import LMDB
import LarderSystem
import Testing

@testable import Larder

extension FaultTests {
  /// Changes the first record of a database for which `isWanted` returns true, or adds the changed record beside it.
  static func change(
    _ database: Database, _ transaction: inout WriteTransaction, _ notes: Store.Namespace,
    where isWanted: ([UInt8]) -> Bool = { _ in true },
    adding: Bool = false, _ change: (inout [UInt8], inout [UInt8]) -> Void
  ) throws {
    let former = try #require(
      try notes.engine.beginRead().keys(in: database).first(where: isWanted))
    var key = former
    var value = try transaction.value(for: former, in: database)?.copied ?? []
    change(&key, &value)
    if key != former, !adding { try transaction.remove(former, from: database) }
    if !key.isEmpty { try transaction.put(value, for: key, in: database) }
  }

  private static func reseal(
    _ key: String, _ transaction: inout WriteTransaction, _ notes: Store.Namespace,
    _ change: (inout EntryHeader) -> Void
  ) throws {
    let (slot, record) = (try notes.slot(key), try notes.record(key))
    let parsed = StoredEntry(entryKey: slot, record: record.span)
    let entry = try #require(parsed)
    var header = entry.header
    change(&header)
    let form = header.form
    let rest = record.dropFirst(entry.header.size)
    let keyHash = try #require(entry.keyHash)
    try transaction.put(count: form.size + rest.count, for: slot.span, in: .entries) { bytes in
      header.append(to: &bytes, form)
      for byte in rest { bytes.append(byte) }
      EntryHeader.seal(&bytes, keyHash: keyHash)
    }
  }

  static let entries = [
    Damage("an entry cut short", .unreadableEntry) { transaction, _, notes in
      try transaction.put([1, 2, 3], for: try notes.slot("k"), in: .entries)
    },
    Damage("a changed value", .wrongChecksum) { transaction, _, notes in
      var record = try notes.record("k")
      record[record.count - 1] ^= 1
      try transaction.put(record, for: try notes.slot("k"), in: .entries)
    },
    Damage("an entry that is gone", like: .danglingQueueRecord(at: [])) { transaction, _, notes in
      try transaction.remove(try notes.slot("l"), from: .entries)
    },
    Damage("a key of two bytes", .shortKey([0, 1])) { transaction, _, _ in
      try transaction.put([1], for: [0, 1], in: .entries)
    },
    Damage("a header that denies its tags", .contradictedTags) { transaction, _, notes in
      try reseal("k", &transaction, notes) { $0.flags.remove(.tagged) }
    },
    Damage("an end that lies before the deadline", .lateDeadline) { transaction, _, notes in
      try reseal("k", &transaction, notes) { $0.deadline = $0.staleUntil + 1 }
    },
    Damage("a lost chunk", .missingChunk) { transaction, indexes, notes in
      try change(indexes.chunks, &transaction, notes) { key, _ in key = [] }
    },
  ]

  static let indexes = [
    Damage("a lost deadline", .missingDeadline) { transaction, indexes, notes in
      try change(indexes.deadlines, &transaction, notes) { key, _ in key = [] }
    },
    Damage("another deadline", like: .danglingDeadline(at: [])) { transaction, indexes, notes in
      try change(indexes.deadlines, &transaction, notes, adding: true) { key, _ in key[7] ^= 1 }
    },
    Damage("a deadline that cannot be", like: .damagedDeadline(at: [])) {
      transaction, indexes, notes in
      try change(indexes.deadlines, &transaction, notes, adding: true) { key, _ in key = [1] }
    },
    Damage("a lost position", .missingInQueue) { transaction, indexes, notes in
      try change(indexes.queue, &transaction, notes) { key, _ in key = [] }
    },
    Damage("another position", like: .danglingQueueRecord(at: [])) { transaction, indexes, notes in
      try change(indexes.queue, &transaction, notes, adding: true) { key, _ in
        key[key.count - 1] ^= 0x10
      }
    },
    Damage("a position that cannot be", like: .damagedQueueRecord(at: [])) {
      transaction, indexes, notes in
      try change(indexes.queue, &transaction, notes, adding: true) { key, _ in key.append(1) }
    },
    Damage("a lost tag", like: .missingTag([])) { transaction, indexes, notes in
      try change(indexes.tags, &transaction, notes, where: { $0[0] == UInt8(ascii: "a") }) {
        key, _ in key = []
      }
    },
    Damage("a lost owner", like: .missingOwner(Key([]))) { transaction, indexes, notes in
      try change(indexes.tags, &transaction, notes, where: { $0[0] == 0 }) { key, _ in key = [] }
    },
    Damage("another tag", like: .danglingTag(at: [])) { transaction, indexes, notes in
      let key = IndexKey.tag([0x7A], entry: try notes.slot("k"))
      try transaction.put([], for: key, in: indexes.tags)
    },
    Damage("a tag that cannot be", .damagedTag(at: [1])) { transaction, indexes, _ in
      try transaction.put([], for: [1], in: indexes.tags)
    },
    Damage("a chunk behind the end", like: .danglingChunk(at: [])) { transaction, indexes, notes in
      try change(indexes.chunks, &transaction, notes, adding: true) { key, _ in key[15] += 3 }
    },
    Damage("a chunk of no value", like: .danglingChunk(at: [])) { transaction, indexes, notes in
      try change(indexes.chunks, &transaction, notes, adding: true) { key, _ in key[11] ^= 0x40 }
    },
    Damage("a chunk that cannot be", .damagedChunkKey(at: [1])) { transaction, indexes, _ in
      try transaction.put([1], for: [1], in: indexes.chunks)
    },
  ]
}
