import LMDB
import TestSupport
import Testing

@testable import Larder

@Suite struct FaultTests {
  struct Damage: CustomTestStringConvertible, Sendable {
    typealias Plant = @Sendable (inout WriteTransaction, Indexes, Store.Namespace) throws -> Void
    let testDescription: String
    private let fault: Fault
    private let isExact: Bool
    let plant: Plant

    init(_ name: String, _ fault: Fault, _ plant: @escaping Plant) {
      (testDescription, self.fault, isExact, self.plant) = (name, fault, true, plant)
    }

    /// - Parameter fault: a fault of the expected kind. The test compares only the kind.
    init(_ name: String, like fault: Fault, _ plant: @escaping Plant) {
      (testDescription, self.fault, isExact, self.plant) = (name, fault, false, plant)
    }

    func isFault(_ found: Fault) -> Bool {
      isExact
        ? found == fault
        : found.kind == fault.kind && Self.label(of: found) == Self.label(of: fault)
    }

    private static func label(of fault: Fault) -> String {
      Mirror(reflecting: fault).children.first?.label ?? fault.description
    }
  }

  private let store: Store
  init() throws { store = try Self.makeStore() }

  @Test(arguments: entries + indexes + counters + metadata)
  func `damage of any record is found, mended, and gone`(damage: Damage) throws {
    try store.tamper { transaction, indexes in
      try damage.plant(&transaction, indexes, store.namespace("notes"))
    }
    let found = try store.verify()
    #expect(found.faults.contains { damage.isFault($0.fault) }, "\(found.faults)")
    #expect(try store.repair(found) == [])
    #expect(try store.verify().faults == [])
    #expect(try store.namespace("other").value(for: "k") == Array("v".utf8))
    #expect(try store.repair(store.verify()) == [])
  }

  @Test(arguments: staying)
  func `damage that no repair mends stays, and no entry is lost`(damage: Damage) throws {
    let ids = [try store.namespace("notes").id, try store.namespace("other").id]
    let liveKeys = { try store.keys { _ in .entries }.filter { ids.contains($0.span.namespaceID) } }
    let before = try liveKeys()
    try store.tamper { transaction, indexes in
      try damage.plant(&transaction, indexes, store.namespace("notes"))
    }
    let left = try store.repair(store.verify())
    #expect(left.contains { damage.isFault($0.fault) }, "\(left)")
    #expect(try before.count == 5 && liveKeys() == before)
  }

  @Test func `the faults of another store are refused`() throws {
    let found = try Self.makeStore().verify()
    #expect(failure { _ = try store.repair(found) } == .invalidArgument)
  }

  /// If the record of a namespace is lost, its entries do not reserve the namespace id, so a new namespace may get this id.
  @Test func `a namespace that got the id of lost entries since the walk is not cleared`() throws {
    let record = try store.namespace("notes").record("k")
    let id = NamespaceID(rawValue: UInt32(try store.state.nextID))
    try store.tamper { transaction, _ in
      let slot = "lost".withKeyBytes { StoredKey.entry($0, in: id) }
      try transaction.put(record, for: slot, in: .entries)
    }
    let found = try store.verify()
    #expect(found.faults.contains { $0.fault == .orphanedEntries(of: id, 1) })
    try store.namespace("new").set("v", for: "k")
    #expect(try store.namespace("new").id == id)
    #expect(try store.repair(found) == [])
    #expect(try store.namespace("new").text("k") == "v")
    #expect(try store.repair(store.verify()) == [])
    #expect(try store.verify().faults == [] && store.namespace("new").text("k") == "v")
  }

  @Test func `a chunk that a value has got since the walk stays`() throws {
    let notes = store.namespace("notes")
    let (id, next) = (try notes.id, try #require(try notes.entry(for: "owned")?.version) + 1)
    try store.tamper { transaction, indexes in
      for version in next..<next + 4 {
        for number in 0..<2 as Range<UInt32> {
          let key = IndexKey.chunk(number, of: version, in: id)
          try transaction.put([1], for: key, in: indexes.chunks)
        }
      }
    }
    let found = try store.verify()
    #expect(found.faults.count >= 8)
    let value = [UInt8](repeating: 2, count: 9000)
    try notes.set(value, for: "new")
    let version = try #require(try notes.entry(for: "new")?.version)
    #expect((next..<next + 4).contains(version))
    #expect(try store.repair(found) == [])
    #expect(try notes.bytes("new") == value && store.verify().faults == [])
  }

  @Test func `an unreadable name prevents no repair of another namespace`() throws {
    let id = try store.namespace("notes").id
    try store.tamper { transaction, _ in
      try transaction.put([1, 2, 3], for: MetadataKey.namespace("a"), in: .main)
      let key = MetadataKey.garbage(id)
      try transaction.put(store.engine.seal.seal([], for: key), for: key, in: .main)
    }
    let left = try store.repair(store.verify())
    #expect(left.count == 1 && left.allSatisfy { !$0.fault.isMendable })
    #expect(try store.namespace("notes").text("k") != nil)
  }

  @Test func `a repair of many faults works in short writes`() throws {
    let notes = store.namespace("notes")
    try notes.fill((0..<3 * FaultRepair.perCommit).map { "\($0)" })
    try store.tamper { transaction, indexes in
      for key in try store.engine.beginRead().keys(in: indexes.queue) {
        try transaction.remove(key, from: indexes.queue)
      }
    }
    let found = try store.verify()
    #expect(found.faults.count >= 3 * FaultRepair.perCommit)
    let before = store.engine.environment.lastTransaction
    #expect(try store.repair(found) == [])
    #expect(store.engine.environment.lastTransaction >= before + 3)
    #expect(try store.verify().faults == [])
    #expect(try notes.count() == UInt64(3 * FaultRepair.perCommit + 4))
  }

  /// Four entries in `notes` (one has two chunks, one has an owner), one entry in `other`, and cleared entries.
  static func makeStore() throws -> Store {
    let options = with(Store.Options(clock: ManualClock())) { $0.hooks.chunksAbove = 5000 }
    let store = try Store.temporary(options: options)
    let notes = store.namespace("notes")
    var attributes = EntryAttributes.with(expires: .after(.hours(1)), tags: ["a", "b"])
    for key in ["k", "l"] { try notes.set([1, 2, 3], for: key, attributes) }
    try notes.set([UInt8](repeating: 1, count: 9000), for: "c", attributes)
    attributes.owners = [Owner(Key("k"), in: "notes")]
    try notes.set([4], for: "owned", attributes)
    // The clear itself reclaims only a part of these entries. The other entries stay in the store as cleared entries.
    try store.namespace("cleared").fill(0..<100)
    try store.namespace("other").set("v", for: "k")
    try store.namespace("cleared").clear()
    #expect(try store.verify().faults == [])
    return store
  }
}
