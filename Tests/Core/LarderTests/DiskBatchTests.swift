import LMDB
import Synchronization
import TestSupport
import Testing

@testable import Larder

/// Batches of many small entries. The data file is so small that it has room for only a few copies of changed pages.
struct DiskBatchTests: StoreSuite {
  let fixture = StoreFixture(onDisk: unflushed(disk: 4_000_000), usesSystemClock: true)

  @Test(arguments: [(5_000_000, false), (8_000_000, false), (5_000_000, true)])
  func `a batch beyond the free pages succeeds if repeated, so do later ones`(
    disk: Int, throwsOwn: Bool
  ) throws {
    var random = SeededRNG()
    try withStoreOnDisk(unflushed(disk: disk)) { store, notes in
      while try notes.removals[.evictedForDisk] < 1000 {
        try notes.set([UInt8](repeating: 1, count: 210), for: "\(random.next(in: 0..<1_000_000))")
      }
      var failures = 0
      for _ in 0..<40 {
        let keys = (0..<400).map { _ in "\(random.next(in: 0..<1_000_000))" }
        func write() throws {
          try store.write { batch in
            let value = [UInt8](repeating: 2, count: 210)
            do { for key in keys { try batch.set(value, for: key, in: notes) } } catch {
              throw throwsOwn ? Stop() as any Error : error
            }
          }
        }
        do { try write() } catch {
          let hint = (error as? LarderError)?.hint
          #expect(throwsOwn || hint?.hasPrefix("repeat it") == true, "\(error) \(random.seed)")
          failures += 1
          try write()
        }
        #expect(try notes.bytes(keys.last!) != nil, "LARDER_SEED=\(random.seed)")
      }
      #expect(throwsOwn ? failures == 1 : failures <= 1, "LARDER_SEED=\(random.seed)")
      #expect(try notes.count() > 400, "LARDER_SEED=\(random.seed)")
      #expect(store.engine.environment.fileSize <= disk)
    }
  }

  @Test func `a batch of empty values beyond the free pages succeeds if repeated`() throws {
    var random = SeededRNG()
    func keys(_ count: Int) -> [Int] { (0..<count).map { _ in random.next(in: 0..<1_000_000) } }
    while try notes.removals[.evictedForDisk] < 1000 {
      for key in keys(500) { try notes.set([UInt8](), for: key) }
    }
    let some = keys(400)
    if failure({ try notes.fill(some, with: []) }) != nil { try notes.fill(some, with: []) }
    #expect(try notes.count() > 400, "LARDER_SEED=\(random.seed)")
  }

  @Test func `room for earlier batches is at most half of a file whose limit was lowered`() throws {
    for index in 0..<3000 { try notes.set([UInt8](repeating: 1, count: 210), for: "\(index)") }
    store.engine.writes.pagesForBatches.store(1_000_000, ordering: .relaxed)
    try store.write { batch in try batch.set("v", for: "k", in: notes) }
    #expect(try notes.count() > 1000)
  }

  @Test func `one large batch does not keep half of the file free for ever`() throws {
    store.engine.writes.pagesForBatches.store(2_000, ordering: .relaxed)
    for index in 0..<500 { try store.write { batch in try batch.set("v", for: index, in: notes) } }
    #expect(store.engine.writes.pagesForBatches.load(ordering: .relaxed) < 1000)
  }

  @Test func `a batch that no eviction makes room for says so`() throws {
    for attempt in 0..<3 {
      let code = failure {
        try notes.fill((0..<20_000).map { "\($0)" }, with: [UInt8](repeating: 2, count: 210))
      }
      #expect(code == .full, "attempt \(attempt)")
    }
    try notes.set("small", for: "after")
    #expect(try notes.bytes("after") == Array("small".utf8))
  }

  /// Stores small entries in random order, every tenth with the attributes, until the data file is full. Returns the keys.
  private func fill(_ notes: Store.Namespace, _ tenth: EntryAttributes) throws -> [Int] {
    var random = SeededRNG()
    var keys: [Int] = []
    while try notes.removals[.evictedForDisk] < 1000 {
      for _ in 0..<500 {
        keys.append(random.next(in: 0..<1_000_000))
        let attributes = keys.count % 10 == 0 ? tenth : EntryAttributes()
        try notes.set([UInt8](repeating: 1, count: 210), for: keys.last!, attributes)
      }
    }
    return keys
  }

  @Test(arguments: ["tag", "owner", "prefix"])
  func `removing many entries of a full file evicts no others`(by what: String) throws {
    try withStoreOnDisk(unflushed(disk: 5_000_000)) { store, notes in
      let expires = what == "prefix" ? Expiration.after(.days(1)) : .never
      try store.declare(Rules(expires: expires, jitter: 0.5), for: "notes")
      try notes.set([1], for: "owner", .with(isPinned: true))
      let owner = Owner(Key("owner"), in: "notes")
      _ = try fill(notes, what == "owner" ? .with(owners: [owner]) : .with(tags: ["tag"]))
      let (count, evicted) = (try notes.count(), try notes.removals.evicted)
      switch what {
      case "tag": try store.invalidate(tag: "tag")
      case "owner": try notes.remove("owner")
      default: try notes.remove(prefix: [0xF7, 0, 0, 0, 0, 0, 3] as [UInt8])
      }
      let removals = try notes.removals
      #expect(
        removals[.invalidated] + removals[.orphaned] + removals[.removed]
          > (what == "prefix" ? 300 : 500))
      #expect(try removals.evicted - evicted < 100 && notes.count() > count * 4 / 5)
    }
  }

  @Test func `a lower limit of a namespace in a full file evicts nothing of the others`() throws {
    try withStoreOnDisk(unflushed(disk: 5_000_000)) { store, notes in
      let other = store.namespace("other")
      try other.fill(0..<2000, with: [UInt8](repeating: 1, count: 210))
      _ = try fill(notes, EntryAttributes())
      let before = try other.count()
      try store.declare(Rules(limits: Limits(entries: 1000)), for: "notes")
      #expect(try notes.count() <= 1000 && other.count() > before * 4 / 5)
    }
  }

  @Test func `neither cleanup nor purge takes the last pages of a full file`() throws {
    try withStoreOnDisk(with(unflushed(disk: 4_000_000)) { $0.clock = clock }) { store, notes in
      let keys = try fill(notes, .with(expires: .after(.hours(1))))
      let evicted = try notes.removals.evicted
      clock.advance(by: .hours(2))
      for key in keys { _ = try notes.bytes(key) }
      for round in 0..<10 { try store.write { batch in try batch.set("v", for: round, in: notes) } }
      try store.purge()
      let removals = try notes.removals
      #expect(removals[.expired] > 500 && removals.evicted - evicted < 100)
    }
  }
}
