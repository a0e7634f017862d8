import LMDB
import LarderSystem
import Testing

@testable import Larder

extension FaultTests {
  /// Changes the first record whose key `isWanted` accepts. An empty new key removes the record; a different key adds a record.
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
    }, reseal("a header that denies its tags", .contradictedTags) { $0.flags.remove(.tagged) },
    reseal("an end that lies before the deadline", .lateDeadline) {
      $0.deadline = $0.staleUntil + 1
    }, record("a lost chunk", like: .missingChunk, \.chunks),
  ]

  static let indexes = [
    record("a lost deadline", like: .missingDeadline, \.deadlines),
    record("another deadline", like: .dangling(.deadlines, at: []), \.deadlines) { $0[7] ^= 1 },
    record("a deadline that cannot be", like: .damaged(.deadlines, at: []), \.deadlines) {
      $0 = [1]
    }, record("a lost position", like: .missingInQueue, \.queue),
    record("another position", like: .dangling(.queue, at: []), \.queue) {
      $0[$0.count - 1] ^= 0x10
    },
    record("a position that cannot be", like: .damaged(.queue, at: []), \.queue) { $0.append(1) },
    record("a lost tag", like: .missingTag([]), \.tags, where: { $0[0] == UInt8(ascii: "a") }),
    record("a lost owner", like: .missingOwner(Key([])), \.tags, where: { $0[0] == 0 }),
    Damage("another tag", like: .dangling(.tags, at: [])) { transaction, indexes, notes in
      let key = IndexKey.tag([0x7A], entry: try notes.slot("k"))
      try transaction.put([], for: key, in: indexes.tags)
    },
    Damage("a tag that cannot be", .damaged(.tags, at: [1])) { transaction, indexes, _ in
      try transaction.put([], for: [1], in: indexes.tags)
    }, record("a chunk behind the end", like: .dangling(.chunks, at: []), \.chunks) { $0[15] += 3 },
    record("a chunk of no value", like: .dangling(.chunks, at: []), \.chunks) { $0[11] ^= 0x40 },
    Damage("a chunk that cannot be", .damaged(.chunks, at: [1])) { transaction, indexes, _ in
      try transaction.put([1], for: [1], in: indexes.chunks)
    },
  ]

  private static func counters(
    _ name: String, like fault: Fault,
    _ change: @escaping @Sendable (inout NamespaceCounters) -> Void
  ) -> Damage {
    Damage(name, like: fault) { transaction, _, notes in
      let (id, seal) = (try notes.id, notes.engine.seal)
      let key = MetadataKey.counters(id)
      let bytes = try #require(try transaction.value(for: key, in: .main)?.copied)
      let read = NamespaceCounters(bytes.span, of: id, seal: seal)
      var counters = try #require(read)
      change(&counters)
      try transaction.put(counters.record(of: id, seal: seal), for: key, in: .main)
    }
  }

  private static func changeState(
    _ transaction: inout WriteTransaction, _ notes: Store.Namespace,
    _ change: (inout StoreState) -> Void
  ) throws {
    var state = try #require(try transaction.state(notes.engine.seal))
    change(&state)
    try transaction.put(state.record(seal: notes.engine.seal), for: MetadataKey.state, in: .main)
  }

  private static func state(
    _ name: String, like fault: Fault, _ change: @escaping @Sendable (inout StoreState) -> Void
  ) -> Damage {
    Damage(name, like: fault) { transaction, _, notes in
      try changeState(&transaction, notes, change)
    }
  }

  private static let entryCount = Fault.entryCount(
    counted: Fault.Entries(NamespaceCounters()), found: Fault.Entries(NamespaceCounters()))
  private static let pinnedOrWindow = Fault.pinnedOrWindow(
    counted: Fault.Window(NamespaceCounters()), found: Fault.Window(NamespaceCounters()))

  static let counters = [
    counters("a wrong count", like: entryCount) { $0.entries += 1 },
    counters("a wrong size", like: entryCount) { $0.bytes -= 1 },
    counters("a wrong count of pins", like: pinnedOrWindow) { $0.pinned += 1 },
    counters("a version again", like: .usedVersion(next: 0, used: 0)) { $0.next = 2 },
    Damage("damaged counters", .damagedCounters) { transaction, _, notes in
      try transaction.put([1, 2, 3], for: MetadataKey.counters(try notes.id), in: .main)
    }, state("wrong totals", like: .totals) { $0.entries += 1 },
    state("too few dependents", like: .dependents(counted: 0, found: 0)) { $0.dependents = 0 },
    state("a wrong count of cleared ids", like: .clearedCount(counted: 0, found: 0)) {
      $0.garbage += 1
    },
    state("a wrong count of invalidated tags", like: .invalidatedTagCount(counted: 0, found: 0)) {
      $0.tombstones += 1
    }, state("a late next deadline", like: .earlyDeadline) { $0.nextDue += 1 },
    Damage("a damaged state", .damagedState) { transaction, _, _ in
      try transaction.put([1, 2, 3], for: MetadataKey.state, in: .main)
    },
  ]

  private static let lost = NamespaceID(rawValue: 999)

  static let metadata = [
    Damage("entries of no namespace", .orphanedEntries(of: lost, 100)) { transaction, _, notes in
      let record = try notes.record("k")
      for key in 0..<100 {
        let slot = key.withKeyBytes { StoredKey.entry($0, in: lost) }
        try transaction.put(record, for: slot, in: .entries)
      }
    },
    Damage("counters of no namespace", .orphanedCounters(of: lost)) { transaction, _, notes in
      let record = NamespaceCounters().record(of: lost, seal: notes.engine.seal)
      try transaction.put(record, for: MetadataKey.counters(lost), in: .main)
    },
    Damage(
      "a key of counters that cannot be",
      .damagedCountersKey(at: MetadataKey.allCounters + [1])
    ) { transaction, _, _ in
      try transaction.put([1], for: MetadataKey.allCounters + [1], in: .main)
    },
    Damage("a namespace listed as cleared", like: .clearedInUse(lost, "")) {
      transaction, _, notes in
      let key = MetadataKey.garbage(try notes.id)
      try transaction.put(notes.engine.seal.seal([], for: key), for: key, in: .main)
    },
    Damage("a damaged record of a cleared id", like: .damagedClearedRecord(at: [])) {
      transaction, _, notes in
      try change(.main, &transaction, notes, where: { $0.starts(with: MetadataKey.garbage) }) {
        _, value in value = [1]
      }
    },
    Damage("a damaged record of an invalidated tag", .damagedInvalidatedTag) {
      transaction, _, notes in
      try transaction.put([1], for: MetadataKey.tombstones + [9], in: .main)
      try changeState(&transaction, notes) { $0.tombstones += 1 }
    },
  ]

  static let staying = [
    Damage("a damaged namespace", like: .damagedRecord("")) { transaction, _, _ in
      try transaction.put([1, 2, 3], for: MetadataKey.namespace("other"), in: .main)
    },
    Damage("two namespaces with one id", like: .sharedID("", "")) { transaction, _, notes in
      let record = NamespaceRecord(id: try notes.id, created: 0)
      let bytes = try record.record(name: "twin", seal: notes.engine.seal)
      try transaction.put(bytes, for: MetadataKey.namespace("twin"), in: .main)
    },
  ]
}
