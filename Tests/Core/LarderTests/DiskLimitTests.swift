import LMDB
import TestSupport
import Testing

@testable import Larder

struct DiskLimitTests: StoreSuite {
  let fixture = StoreFixture(onDisk: unflushed(disk: 4_000_000), usesSystemClock: true)
  private let directory = TemporaryDirectory()
  private var path: String { directory.path }
  private func fileSize(_ store: Store) -> Int { store.engine.environment.fileSize }

  @Test func `the data file never grows beyond its limit`() throws {
    var random = SeededRNG()
    for _ in 0..<1500 {
      let most = [300, 5000, 60_000][random.next(in: 0..<3)]
      let value = [UInt8](repeating: 1, count: random.next(in: 0..<most))
      try notes.set(value, for: "\(random.next(in: 0..<100_000))")
      if random.chance(percent: 5) { try notes.remove("\(random.next(in: 0..<100_000))") }
      #expect(fileSize(store) <= 4_000_000, "LARDER_SEED=\(random.seed)")
    }
    #expect(try notes.removals[.evictedForDisk] > 100)
    #expect(try notes.info()!.bytes > 1_500_000)
  }

  @Test(arguments: [1, 4, 16])
  func `a large value evicts at most twice its bytes and a megabyte`(megabytes: Int) throws {
    try withStoreOnDisk(unflushed(disk: 64_000_000)) { store, notes in
      for index in 0..<12_000 { try notes.set([UInt8](repeating: 1, count: 6000), for: index) }
      let before = try notes.info()!
      #expect(before.bytes > 35_000_000)
      let value = [UInt8](repeating: 2, count: megabytes * 1_000_000)
      try notes.set(value, for: "large")
      let evicted = try before.bytes + value.count - notes.info()!.bytes
      #expect(evicted <= 2 * value.count + 1_000_000)
      #expect(fileSize(store) <= 64_000_000)
      #expect(try notes.bytes("large") == value)
    }
  }

  @Test func `an endless reader makes writes fail by its name, and nothing is evicted`() throws {
    for index in 0..<600 { try notes.set([UInt8](repeating: 1, count: 5000), for: "\(index)") }
    let peer = try PeerProcess("larder-hold", store.path, saying: "holding")
    var (error, written) = (LarderError?.none, 0)
    while error == nil, written < 2000 {
      error = thrown { try notes.set([UInt8](repeating: 2, count: 5000), for: "new \(written)") }
      if error == nil { written += 1 }
    }
    #expect(error?.code == .full)
    #expect(error?.message.contains("process \(peer.identifier)") == true, "\(error as Any)")
    let before = try store.statistics()
    for attempt in 0..<20 {
      let value = [UInt8](repeating: 3, count: 50_000)
      #expect(failure { try notes.set(value, for: "more \(attempt)") } == .full)
    }
    let after = try store.statistics()
    #expect(before.entries == after.entries && before.bytes == after.bytes)
    #expect(fileSize(store) <= 4_000_000)
    // The store keeps pages in reserve for removals, so removals succeed at the limit.
    #expect(try notes.remove("new \(written - 1)"))
    #expect(try notes.clear().entries > 0)
    try peer.endInput()
    #expect(peer.line() == nil)
    for index in 0..<600 { try notes.set([UInt8](repeating: 4, count: 5000), for: "\(index)") }
    #expect(fileSize(store) <= 4_000_000)
  }

  @Test func `a limit may be below the file, rise and end, and binds other processes`() throws {
    try withStoreOnDisk(unflushed()) { store, notes in
      for index in 0..<1000 { try notes.set([UInt8](repeating: 1, count: 8000), for: "\(index)") }
      try store.sync()
      let size = fileSize(store)
      #expect(size > 8_000_000)
      try store.declare(StoreLimits(disk: 5_000_000))
      let peer = try PeerProcess("larder-fill", store.path, ["500", "8000"])
      #expect(peer.line() == "done")
      for index in 0..<500 { try notes.set([UInt8](repeating: 2, count: 8000), for: "b\(index)") }
      // A removal needs new pages. So a file without free pages must grow before the first removal, but only by these pages.
      #expect(fileSize(store) <= size + 2_000_000)
      #expect(try notes.info()!.bytes < 5_000_000)
      try store.declare(StoreLimits(disk: 20_000_000))
      for index in 0..<3000 { try notes.set([UInt8](repeating: 2, count: 8000), for: "c\(index)") }
      #expect(fileSize(store) <= 20_000_000 && fileSize(store) > 15_000_000)
      try store.declare(StoreLimits())
      for index in 0..<3000 { try notes.set([UInt8](repeating: 2, count: 8000), for: "d\(index)") }
      #expect(fileSize(store) > 25_000_000)
    }
  }

  @Test func `a lower limit beside a reader grows the file by at most 2 MB`() throws {
    try withStoreOnDisk(unflushed()) { store, notes in
      try notes.fill(0..<50_000, with: [UInt8](repeating: 1, count: 100))
      let size = fileSize(store)
      let peer = try PeerProcess("larder-hold", store.path, saying: "holding")
      #expect(failure { try store.declare(StoreLimits(disk: 5_000_000)) } == .full)
      #expect(fileSize(store) <= size + 2 << 20)
      try peer.endInput()
      #expect(peer.line() == nil)
      try store.declare(StoreLimits(disk: 5_000_000))
      #expect(fileSize(store) <= size + 4 << 20)
    }
  }

  @Test func `a large value without a run of free pages can be touched`() throws {
    let large = [UInt8](repeating: 7, count: 1_000_000)
    try notes.set(large, for: "large", .with(isPinned: true))
    for key in 0..<280 { try notes.set([UInt8](repeating: 1, count: 5000), for: key) }
    #expect(try notes.removals.evicted == 0)
    for key in stride(from: 0, to: 280, by: 2) { try notes.remove(key) }
    #expect(try notes.touch("large", expires: .after(.hours(1))))
    #expect(try notes.unpin("large") && notes.bytes("large") == large)
    #expect(try notes.removals.evicted == 0)
  }

  @Test func `a full store leaves a large entry due if the file has no room for a copy`() throws {
    try withStoreOnDisk(with(unflushed(disk: 4_000_000)) { $0.clock = clock }) { _, notes in
      let life = EntryAttributes.with(expires: .after(.seconds(10)), isPinned: true)
      try notes.set([UInt8](repeating: 7, count: 1_000_000), for: "large", life)
      try notes.touch("large", expires: .after(.hours(1)))
      for key in 0..<400 { try notes.set([UInt8](repeating: 1, count: 5000), for: key) }
      clock.advance(by: .seconds(20))
      for key in 400..<420 { try notes.fill([key], with: [UInt8](repeating: 1, count: 5000)) }
      #expect(try notes.contains("large") && notes.contains(419))
    }
  }

  @Test func `writes after a clear have room, however many entries were cleared`() throws {
    try withStoreOnDisk(unflushed(disk: 8_000_000)) { store, notes in
      let cleared = store.namespace("cleared")
      for start in [0, 20_000] {
        try cleared.fill(start..<start + 20_000, with: [UInt8](repeating: 1, count: 20))
      }
      try cleared.clear()
      for size in [3_600_000, 2_000_000] {
        try notes.set([UInt8](repeating: 2, count: size), for: size)
        #expect(try notes.contains(size))
      }
    }
  }

  @Test func `a disk limit after a clear evicts no live entry`() throws {
    try withStoreOnDisk(unflushed()) { store, notes in
      try store.namespace("live").fill(0..<50)
      for key in 0..<2000 { try notes.set([UInt8](repeating: 1, count: 8000), for: key) }
      try notes.clear()
      try store.declare(StoreLimits(disk: 5_000_000))
      #expect(try store.namespace("live").count() == 50)
      #expect(try store.limits().effective.disk == 5_000_000)
    }
  }

  @Test func `a value that cannot fit is refused with both sizes and evicts nothing`() throws {
    try store.declare(Rules(limits: Limits(entries: 3), eviction: .fifo), for: "notes")
    try notes.fill(0..<3)
    let value = [UInt8](repeating: 1, count: 4_000_000)
    let error = thrown { try notes.set(value, for: 3) }
    #expect(error?.code == .overLimit && error?.message.contains("4000000 bytes on disk") == true)
    try store.write { batch in
      #expect(failure { try batch.set(value, for: 3, in: notes) } == .overLimit)
    }
    #expect(try notes.count() == 3)
  }

  @Test(arguments: [
    (free: 60_000_000, limit: 6_000_000), (free: 5_000_000, limit: StoreLimits.smallestDisk),
    (free: 300_000_000_000, limit: 10_000_000_000),
  ])
  func `a store gets a tenth of the free disk by default`(_ disk: (free: Int, limit: Int)) throws {
    var options = with(Store.Options()) { $0.hooks.freeDisk = { _ in disk.free } }
    var store = try Store(at: path + "/store", options: options)
    #expect(try store.limits().defaultDisk == disk.limit)
    #expect(try store.limits().effective == StoreLimits(disk: disk.limit))
    #expect(try store.statistics().usage.disk.limit == disk.limit)
    #expect(try store.limits().declared == StoreLimits())
    // The store computed its limit when it was created, so a later change of the free disk space has no effect.
    options.hooks.freeDisk = { _ in 1 << 50 }
    try store.close()
    store = try Store(at: path + "/store", options: options)
    #expect(try store.limits().effective.disk == disk.limit)
    try store.declare(StoreLimits(entries: 5))
    #expect(try store.limits().effective == StoreLimits(entries: 5, disk: disk.limit))
    try store.override(StoreLimits(disk: 50_000_000))
    #expect(try store.limits().effective.disk == 50_000_000)
    try store.override(StoreLimits())
    try store.declare(.unlimited)
    #expect(try store.limits().effective == StoreLimits())
    try store.verifyAndClose()
  }

  @Test func `a store says at its making that nothing limits it`() throws {
    let limits = with(StoreLimits.unlimited) { $0.memory = 1000 }
    let store = try Store(at: path + "/store", options: Store.Options(limits: limits))
    #expect(try store.limits().effective == StoreLimits(memory: 1000))
    #expect(try store.statistics().usage.disk.limit == nil)
    try store.close()
    #expect(try Store(at: path + "/store").engine.memory.budget.limit == 1000)
    #expect(try Store.temporary().limits().effective == StoreLimits())
  }

  @Test func `the default limit evicts, and far from it no page is counted`() throws {
    var options = Store.Options(durability: .scratch)
    options.hooks.freeDisk = { _ in 40_000_000 }
    let small = try Store(at: path + "/small", options: options)
    let notes = small.namespace("notes")
    for index in 0..<800 { try notes.set([UInt8](repeating: 1, count: 8000), for: "\(index)") }
    #expect(fileSize(small) <= 4_000_000)
    #expect(try notes.removals[.evictedForDisk] > 100)
    try small.verifyAndClose()
    options.hooks.freeDisk = { _ in 100_000_000_000 }
    let large = try Store(at: path + "/large", options: options)
    try large.write { batch in
      try batch.set("v", for: "k", in: large.namespace("notes"))
      let budget = batch.session.budget
      #expect(budget.disk == nil && budget.limits.disk == 10_000_000_000)
    }
    try large.close()
  }

  @Test func `the map fits the default limit before a first read that may hold a write`() throws {
    try Store.leave(at: path + "/store")
    let store = try Store(at: path + "/store")
    let notes = store.namespace("notes")
    #expect(try store.engine.environment.fileLimit == store.limits().effective.disk)
    try store.read { snapshot in
      #expect(try snapshot.contains("k", in: notes))
      try notes.set("w", for: "b")
    }
    #expect(try notes.count() == 2)
    try store.close()
  }
}
