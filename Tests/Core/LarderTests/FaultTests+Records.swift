import LMDB
import LarderSystem
import Testing

@testable import Larder

extension FaultTests {
  /// Changes the first record whose key `isWanted` accepts. An empty new key removes the record, a different key adds a record.
  static func change(
    _ database: Database, _ transaction: inout WriteTransaction, _ notes: Store.Namespace,
    where isWanted: ([UInt8]) -> Bool, _ change: (inout [UInt8], inout [UInt8]) -> Void
  ) throws {
    let former = try #require(
      try notes.engine.beginRead().keys(in: database).first(where: isWanted))
    var key = former
    var value = try transaction.value(for: former, in: database)?.copied ?? []
    change(&key, &value)
    if key.isEmpty {
      try transaction.remove(former, from: database)
    } else {
      try transaction.put(value, for: key, in: database)
    }
  }

  private static func record(
    _ name: String, like fault: Fault, _ index: any KeyPath<Indexes, Database> & Sendable,
    _ changeKey: @escaping @Sendable (inout [UInt8]) -> Void = { $0 = [] },
    where isWanted: @escaping @Sendable ([UInt8]) -> Bool = { _ in true }
  ) -> Damage {
    Damage(name, like: fault) { transaction, indexes, notes in
      try change(indexes[keyPath: index], &transaction, notes, where: isWanted) { key, _ in
        changeKey(&key)
      }
    }
  }

  private static func reseal(
    _ name: String, _ fault: Fault, _ change: @escaping @Sendable (inout EntryHeader) -> Void
  ) -> Damage {
    Damage(name, fault) { transaction, _, notes in
      let record = try notes.resealed("k") { header, _ in change(&header) }
      try transaction.put(record, for: try notes.slot("k"), in: .entries)
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
    Damage("an entry that is gone", like: .dangling(.queue, at: [])) { transaction, _, notes in
      try transaction.remove(try notes.slot("l"), from: .entries)
    },
    Damage("a key of two bytes", .damaged(.entries, at: [0, 1])) { transaction, _, _ in
      try transaction.put([1], for: [0, 1], in: .entries)
    },
    reseal("a header that denies its tags", .contradictedTags) { $0.flags.remove(.tagged) },
    reseal("an end that lies before the deadline", .lateDeadline) {
      $0.deadline = $0.staleUntil + 1
    },
    record("a lost chunk", like: .missingChunk, \.chunks),
  ]

  static let indexes = [
    record("a lost deadline", like: .missingDeadline, \.deadlines),
    record("another deadline", like: .dangling(.deadlines, at: []), \.deadlines) { $0[7] ^= 1 },
    record("a deadline that cannot be", like: .damaged(.deadlines, at: []), \.deadlines) {
      $0 = [1]
    },
    record("a lost position", like: .missingInQueue, \.queue),
    record("another position", like: .dangling(.queue, at: []), \.queue) {
      $0[$0.count - 1] ^= 0x10
    },
    record("a position that cannot be", like: .damaged(.queue, at: []), \.queue) {
      $0.append(1)
    },
    record("a lost tag", like: .missingTag([]), \.tags, where: { $0[0] == UInt8(ascii: "a") }),
    record("a lost owner", like: .missingOwner(Key([])), \.tags, where: { $0[0] == 0 }),
    Damage("another tag", like: .dangling(.tags, at: [])) { transaction, indexes, notes in
      let key = IndexKey.tag([0x7A], entry: try notes.slot("k"))
      try transaction.put([], for: key, in: indexes.tags)
    },
    Damage("a tag that cannot be", .damaged(.tags, at: [1])) { transaction, indexes, _ in
      try transaction.put([], for: [1], in: indexes.tags)
    },
    record("a chunk behind the end", like: .dangling(.chunks, at: []), \.chunks) { $0[15] += 3 },
    record("a chunk of no value", like: .dangling(.chunks, at: []), \.chunks) { $0[11] ^= 0x40 },
    Damage("a chunk that cannot be", .damaged(.chunks, at: [1])) { transaction, indexes, _ in
      try transaction.put([1], for: [1], in: indexes.chunks)
    },
  ]
}
