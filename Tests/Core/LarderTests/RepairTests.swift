import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct RepairTests: StoreSuite {
  let fixture = StoreFixture()
  private static let entries = 2_000

  /// A store with 2,000 entries, of which half have tags. Six entries were damaged. Three of the six were replaced or removed.
  private func withDamagedStore(_ body: (Store, Store.Namespace) throws -> Void) throws {
    try store.write { batch in
      for index in 0..<Self.entries {
        let attributes = EntryAttributes.with(
          expires: index % 3 == 0 ? .after(.hours(1)) : nil, tags: index % 2 == 0 ? ["even"] : [])
        try batch.set([1, 2, 3], for: "\(index)", in: notes, attributes)
      }
    }
    for key in ["10", "11", "12", "13"] { try notes.tamper(key) { $0[$0.count - 1] ^= 1 } }
    for key in ["20", "21"] { try notes.tamper(key) { $0 = Array($0.prefix(3)) } }
    try notes.set([4], for: "10")
    try notes.remove("11")
    try notes.set([5], for: "20")
    #expect(try marks(store) == 1)
    #expect(try store.faults.isEmpty == false, "the counters are wrong by what was damaged")
    try body(store, notes)
    #expect(try marks(store) == 0)
    #expect(try notes.bytes("10") == [4] && notes.bytes("20") == [5])
  }

  private func marks(_ store: Store) throws -> Int {
    try store.keys { _ in .main }.count { $0.starts(with: MetadataKey.repairs) }
  }

  /// Removes the damaged entries that no write has found yet, so the store is sound afterwards.
  private func removeDamaged(_ notes: Store.Namespace) throws {
    for key in ["12", "13", "21"] { try notes.remove(key) }
  }

  @Test func `a repair drops chunks without a value, and none of a value just written`() throws {
    try withNotes(chunksAbove: 1000) { store, notes, _ in
      try notes.set([1], for: "small")
      try notes.set([UInt8](repeating: 7, count: 3000), for: "early")
      let (id, lost) = try store.engine.commit { batch in
        let id = try #require(try batch.session.namespace("notes")).id
        let entry = try #require(try batch.session.entry(Array("small".utf8).span, in: id))
        let key = IndexKey.chunk(0, of: entry.header.version, in: id)
        try batch.session.transaction.put([1], for: key, in: store.engine.indexes.chunks)
        return (id, key)
      }
      let repair = NamespaceRepair(id: id, indexes: store.engine.indexes)
      let snapshot = try store.engine.beginRead()
      let recorded = try store.engine.metadata.counters(of: id, in: snapshot)
      let chunks = try repair.survey(recorded, in: snapshot).chunks
      try notes.set([UInt8](repeating: 8, count: 3000), for: "late")
      let (dangling, _) = try repair.dangling(.chunks, chunks, in: store.engine.beginRead())
      #expect(dangling == [lost])
      try store.engine.commit { batch in try repair.drop(dangling, .chunks, chunks, &batch.session)
      }
      #expect(try notes.bytes("late")?.count == 3000 && notes.bytes("early")?.count == 3000)
    }
  }

  @Test func `a damaged version costs no other value its chunks, and skips no versions`() throws {
    try withNotes(chunksAbove: 1000) { store, notes, _ in
      let large = [UInt8](repeating: 7, count: 20_000)
      try notes.set(large, for: "a")
      let version = UInt32(try notes.header("a").version)
      for (key, damaged) in [("b", version), ("c", UInt32.max)] {
        try notes.set([UInt8](repeating: 8, count: 1001), for: key)
        let place = EntryHeader.fixedSize
        try notes.tamper(key) {
          $0.replaceSubrange(place..<place + 4, with: [UInt8](littleEndian: damaged))
        }
      }
      #expect(try store.repair(store.verify()) == [])
      #expect(try store.verify().faults == [])
      #expect(try notes.keys() == [Key("a")] && notes.bytes("a") == large)
      try notes.set([1], for: "d")
      #expect(try notes.header("d").version < 100)
    }
  }

  @Test func `maintenance makes the store sound, and counts the repaired namespaces`() throws {
    try withDamagedStore { store, notes in
      try removeDamaged(notes)
      #expect(try Maintenance(of: store).runOnce().repaired == 1)
      #expect(try notes.count() == Self.entries - 4)
      #expect(try Maintenance(of: store).runOnce().repaired == 0)
    }
  }

  @Test func `a purge repairs, too`() throws {
    try withDamagedStore { store, notes in
      try removeDamaged(notes)
      #expect(try store.purge().entries == 0)
    }
  }

  @Test func `a repair that is stopped, or in between which others write, ends well`() throws {
    try withDamagedStore { store, notes in
      try removeDamaged(notes)
      var random = SeededRNG(seed: TestSettings.seed)
      for steps in [0, 1, 3, 100] {
        var left = steps
        _ = try RepairJob(engine: store.engine).run {
          left -= 1
          do {
            let key = "\(random.next(in: 0..<Self.entries * 2))"
            if random.chance(percent: 50) {
              try notes.set([9], for: key)
            } else {
              try notes.remove(key)
            }
            try notes.set([4], for: "10")
            try notes.set([5], for: "20")
          } catch { Issue.record(error) }
          return left >= 0
        }
      }
    }
  }

  @Test func `damage found while the counters are corrected is not lost`() throws {
    try withDamagedStore { store, notes in
      try removeDamaged(notes)
      var isFirst = true
      _ = try RepairJob(engine: store.engine).run {
        if isFirst {
          isFirst = false
          #expect(throws: Never.self) {
            try notes.tamper("500") { $0[$0.count - 1] ^= 1 }
            try notes.remove("500")
          }
        }
        return true
      }
      #expect(try notes.count() == Self.entries - 5)
    }
  }

  @Test func `a namespace that is cleared before its repair needs none`() throws {
    try withDamagedStore { store, notes in
      try notes.clear()
      try store.purge()
      try notes.set([4], for: "10")
      try notes.set([5], for: "20")
    }
  }

  @Test func `a repair within a write and one in steps leave the same`() throws {
    let id = NamespaceID(rawValue: 1)
    func repaired(_ repair: (Store) throws -> Void) throws -> (NamespaceCounters, StoreState) {
      let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
      let notes = store.namespace("notes")
      for index in 0..<60 {
        let attributes = EntryAttributes.with(
          expires: index % 3 == 0 ? .after(.hours(1)) : nil, tags: index % 2 == 0 ? ["even"] : [],
          isPinned: index % 5 == 0)
        try notes.set([UInt8](repeating: 1, count: index), for: index, attributes)
      }
      for index in [3, 10, 15, 42, 59] { try notes.tamper(index) { $0 = Array($0.prefix(3)) } }
      try repair(store)
      #expect(try store.verify().faults == [])
      #expect(try marks(store) == 0)
      let counters = try store.engine.metadata.counters(of: id, in: store.engine.beginRead())
      return (counters, try store.state)
    }
    let atOnce = try repaired { store in
      try store.engine.commit { batch in _ = batch.session.damaged.insert(id) }
    }
    let inSteps = try repaired { store in
      try store.engine.commit { batch in try RepairMark.note(id, &batch.session.transaction) }
      #expect(try RepairJob(engine: store.engine).run() == 1)
    }
    #expect(atOnce.0.entries == 55 && atOnce.0.removals[.damaged] == 5)
    #expect(atOnce.0.entries == inSteps.0.entries && atOnce.0.bytes == inSteps.0.bytes)
    #expect(atOnce.0.pinned == inSteps.0.pinned && atOnce.0.queue == inSteps.0.queue)
    #expect(atOnce.0.removals == inSteps.0.removals)
    #expect(atOnce.1.entries == inSteps.1.entries && atOnce.1.stored == inSteps.1.stored)
  }

  @Test(arguments: [true, false])
  func `the dependents of a damaged owner leave when a call removes the owner`(
    isCleared: Bool
  ) throws {
    let others = store.namespace("others")
    try notes.set("v", for: "owner")
    try others.set([1], for: "k", .with(owners: [Owner(Key("owner"), in: "notes")]))
    try notes.tamper("owner") { $0[$0.count - 1] ^= 1 }
    if isCleared { try notes.clear() } else { try notes.remove("owner") }
    try store.purge()
    #expect(try others.count() == 0)
  }

  @Test func `a small namespace is repaired by the write that finds the damage`() throws {
    for index in 0..<100 { try notes.set([1], for: "\(index)") }
    try notes.tamper("5") { $0[$0.count - 1] ^= 1 }
    try notes.set([2], for: "5")
    #expect(try marks(store) == 0 && notes.count() == 100)
  }
}
