import LMDB
import LarderSystem
import Testing

@testable import Larder

extension FaultTests {
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
    },
    state("wrong totals", like: .totals) { $0.entries += 1 },
    state("too few dependents", like: .dependents(counted: 0, found: 0)) { $0.dependents = 0 },
    state("a wrong count of cleared ids", like: .clearedCount(counted: 0, found: 0)) {
      $0.garbage += 1
    },
    state("a wrong count of invalidated tags", like: .invalidatedTagCount(counted: 0, found: 0)) {
      $0.tombstones += 1
    },
    state("a late next deadline", like: .earlyDeadline) { $0.nextDue += 1 },
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
