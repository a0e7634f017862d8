import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct SealTests: StoreSuite {
  let fixture = StoreFixture()

  init() throws {
    try store.declare(Rules(limits: Limits(entries: 50)), for: "notes")
    for key in 0..<20 {
      let attributes = EntryAttributes.with(
        expires: .after(.hours(1)), tags: ["tag"], isPinned: key % 5 == 0 ? true : nil)
      try notes.set([UInt8(key)], for: key, attributes)
    }
    try store.namespace("boards").set("v", for: "k")
  }

  @Test func `a sealed record opens only as it is, under its key, in its store`() {
    let seal = RecordSeal(identity: [UInt8](repeating: 1, count: 16))
    let other = RecordSeal(identity: [UInt8](repeating: 2, count: 16))
    func opened(_ record: [UInt8], _ key: [UInt8], _ seal: RecordSeal = seal) -> [UInt8]? {
      seal.open(record.span, for: key)?.copied
    }
    let record = seal.seal([1, 2, 3], for: [7])
    #expect(opened(record, [7]) == [1, 2, 3])
    #expect(opened(record, [8]) == nil)
    #expect(opened(record, [7], other) == nil)
    for place in record.indices { #expect(opened(with(record) { $0[place] ^= 1 }, [7]) == nil) }
    for count in 0..<record.count { #expect(opened(Array(record[..<count]), [7]) == nil) }
    #expect(opened(seal.seal([], for: [7]), [7]) == [])
  }

  /// Damages the bytes of one record, one after the other. Reads must still succeed, and the next write must repair the record.
  @Test(arguments: [false, true])
  func `a write rebuilds damaged state and counters, versions go on`(isOfCounters: Bool) throws {
    let key = isOfCounters ? MetadataKey.counters(try notes.id) : MetadataKey.state
    let boards = store.namespace("boards")
    func record() throws -> [UInt8] {
      try #require(try store.engine.environment.write { try $0.value(for: key, in: .main)?.copied })
    }
    let size = try record().count
    for place in stride(from: 0, to: size, by: size < 40 ? 1 : 7) {
      try store.plant(with(record()) { $0[place] ^= 0x10 }, for: key)
      #expect(try notes.bytes(7) == [7], "a read goes on, \(place)")
      #expect(try store.faults.isEmpty == false, "\(place)")
      if isOfCounters {
        #expect(failure { _ = try notes.count() } == .damaged)
        #expect(try boards.count() == 1)
      } else {
        #expect(try boards.text("k") == "v")
        #expect(failure { _ = try store.statistics() } == .damaged)
      }
      let version = try #require(try notes.entry(for: 3)).version
      try notes.set([3], for: 3)
      #expect(try #require(try notes.entry(for: 3)).version > version)
      try #require(try store.verify().faults == [], "\(place)")
    }
    #expect(try notes.count() == 20 && store.statistics().entries == 21)
  }

  @Test func `counters under a damaged key are damaged, and no version is used again`() throws {
    let key = MetadataKey.counters(try notes.id)
    let before = try notes.header(19).version
    try store.tamper { transaction, _ in try transaction.remove(key, from: .main) }
    #expect(failure { _ = try notes.count() } == .damaged)
    #expect(try store.faults == [.counters])
    try notes.set([1], for: "new")
    #expect(try notes.header("new").version > before)
    #expect(try notes.count() == 21 && store.verify().faults == [])
  }

  @Test func `a limit holds after the counters were damaged`() throws {
    try store.plant([1], for: MetadataKey.counters(try notes.id))
    for number in 100..<200 { try notes.set([1], for: number) }
    #expect(try notes.count() == 50)
    for pinned in stride(from: 0, to: 20, by: 5) { #expect(try notes.contains(pinned)) }
    #expect(try store.statistics().since == clock.now)
  }

  @Test func `maintenance repairs a marked namespace whose counters are damaged`() throws {
    let id = try notes.id
    try store.engine.commit { batch in try RepairMark.note(id, &batch.session.transaction) }
    try store.plant([1], for: MetadataKey.counters(id))
    #expect(try Maintenance(of: store).runOnce().repaired == 1)
  }

  /// The cleared entries that wait are as many as the entries in use, so no count of owned entries remains for `d`.
  @Test func `after damage to the state an owner still takes its dependents with it`() throws {
    let (owners, cleared) = (store.namespace("owners"), store.namespace("cleared"))
    let owned = EntryAttributes.with(owners: [Owner(Key("o"), in: "owners")])
    try owners.fill(["o"])
    try store.namespace("owned").fill(["d"], owned)
    try cleared.fill(0..<GarbageCollector.perWrite + 23, owned)
    try store.write { batch in _ = try batch.clear(cleared) }
    try store.plant([9], for: MetadataKey.state)
    try notes.fill([0])
    #expect(try store.verify().faults == [])
    try owners.remove("o")
    #expect(try !store.namespace("owned").contains("d"))
  }

  @Test func `damage to state and counters at once loses nothing`() throws {
    let id = try notes.id
    for key in [MetadataKey.state, MetadataKey.counters(id)] { try store.plant([9], for: key) }
    #expect(try notes.bytes(7) == [7])
    try notes.set([1], for: "new")
    #expect(try store.verify().faults == [])
    #expect(try notes.count() == 21)
    clock.advance(by: .hours(2))
    #expect(try store.purge().entries == 20)
  }

  @Test func `a store whose state is damaged is purged all the same`() throws {
    try store.plant([1, 2, 3], for: MetadataKey.state)
    try store.purge()
    #expect(try store.state.nextDue != 0 && store.verify().faults == [])
    clock.advance(by: .hours(2))
    #expect(try store.purge().entries == 20)
  }

  @Test func `a namespace made after damage to the state holds no entry of a cleared one`() throws {
    let (boards, pages) = (store.namespace("boards"), store.namespace("pages"))
    try store.write { batch in
      for key in 0..<200 { try batch.set("v", for: key, in: boards) }
      _ = try batch.clear(boards)
    }
    try store.plant([1, 2, 3], for: MetadataKey.state)
    try pages.set("w", for: "k")
    #expect(try pages.keys() == [Key("k")])
  }

  @Test func `a damaged record of a cleared namespace has no other namespace reclaimed`() throws {
    let boards = store.namespace("boards")
    for key in 0..<200 { try boards.set("v", for: key) }
    let record = store.engine.seal.seal([], for: MetadataKey.garbage(try notes.id))
    try store.plant(record, for: MetadataKey.garbage(try boards.id))
    try store.tamperState { $0.garbage += 1 }
    #expect(try store.faults.contains(.metadata))
    try store.purge()
    for number in 0..<20 { try notes.set("v", for: number) }
    #expect(try boards.count() == 201 && boards.text(7) == "v")
  }

  @Test func `numbers that cannot be are refused, not believed`() throws {
    let (id, seal) = (try notes.id, store.engine.seal)
    let changes: [(inout NamespaceCounters) -> Void] = [
      { $0.entries = .max }, { $0.bytes = 1 << 63 }, { $0.next = 0 }, { $0.next = .max },
    ]
    for change in changes {
      var counters = try store.engine.metadata.counters(of: id, in: store.engine.beginRead())
      change(&counters)
      let record = counters.record(of: id, seal: seal)
      let read = NamespaceCounters(record.span, of: id, seal: seal)
      #expect(read == nil)
      try store.plant(record, for: MetadataKey.counters(id))
      try notes.set([1], for: "k")
      #expect(try store.verify().faults == [])
    }
    let record = with(try store.state) { $0.entries = .max }.record(seal: seal)
    let read = StoreState(record.span, seal: seal)
    #expect(read == nil)
  }
}
