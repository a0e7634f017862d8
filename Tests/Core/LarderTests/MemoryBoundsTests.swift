import Synchronization
import TestSupport
import Testing

@testable import Larder

@Suite struct MemoryBoundsTests: StoreSuite {
  let fixture = StoreFixture()

  private func cache(_ store: Store, _ limits: MemoryLimits) -> Cache<String> {
    store.cache(CountingCodec(), in: "notes", memory: limits)
  }

  private func fill(_ store: Store, _ keys: Range<Int>, size: (Int) -> Int = { _ in 10 }) throws {
    try store.write { batch in
      for key in keys {
        try batch.set(
          String(repeating: "x", count: size(key)), for: key, in: store.namespace("notes"))
      }
    }
  }

  /// The keys whose values are in memory. A read would change later evictions, but this check does not.
  private func kept<Value>(_ cache: Cache<Value>, _ keys: Range<Int>) throws -> Set<Int> {
    Set(keys.filter { $0.withKeyBytes { cache.memory?.item($0) != nil } })
  }

  @Test func `cost and count stay within the limits after every operation`() throws {
    var random = SeededRNG(seed: 7)
    try fill(store, 0..<400) { $0 * 7 % 300 }
    let notes = cache(store, MemoryLimits(cost: 5000, entries: 40))
    let memory = try #require(notes.memory)
    for _ in 0..<8000 {
      _ = try notes.value(for: random.next(in: 0..<400))
      if random.chance(percent: 2) {
        let size = random.next(in: 0..<6000)
        try notes.set(String(repeating: "y", count: size), for: random.next(in: 0..<400))
      }
      if random.chance(percent: 2) { try notes.remove(random.next(in: 0..<400)) }
      if random.chance(percent: 1) {
        memory.limits = MemoryLimits(
          cost: random.next(in: 0..<8000), entries: random.next(in: 0..<60))
      }
      let (usage, capacity) = (memory.usage, memory.limits.capacity)
      #expect(capacity.holds(usage), "\(usage) in \(capacity)")
      #expect(store.memory.usage == usage && store.engine.memory.budget.used == usage.cost)
    }
    #expect(memory.statistics.evictions > 1000)
  }

  @Test func `a value that costs more than the limit is not kept and drives nothing out`() throws {
    try fill(store, 0..<10)
    try fill(store, 10..<11) { _ in 101 }
    let notes = cache(store, MemoryLimits(cost: 100))
    for key in 0..<10 { _ = try notes.value(for: key) }
    for _ in 0..<2 { #expect(try notes.value(for: 10)?.count == 101) }
    #expect(try kept(notes, 0..<11) == Set(0..<10))
  }

  @Test func `a cost of one's own counts instead of the bytes`() throws {
    try fill(store, 0..<10)
    let notes = store.cache(
      CountingCodec(), in: "notes", memory: MemoryLimits(cost: 100), cost: { _ in 30 })
    for key in 0..<10 { _ = try notes.value(for: key) }
    #expect(notes.memory?.usage == MemoryUsage(cost: 90, entries: 3))
  }

  @Test func `when full, what was never used gives way to what is newer`() throws {
    try fill(store, 0..<1000)
    let notes = cache(store, MemoryLimits(entries: 100))
    for key in 0..<1000 { _ = try notes.value(for: key) }
    let left = try kept(notes, 0..<1000)
    #expect(left.count == 100)
    // The kept values need not be exactly the newest 100: a value that leaves the window competes with an older value.
    #expect(left.isSubset(of: Set(800..<1000)) && left.isSuperset(of: Set(980..<1000)))
  }

  @Test(arguments: [true, false]) func `a scan leaves what is used`(beside: Bool) throws {
    let count = 30_000
    try fill(store, 0..<count)
    let notes = cache(store, MemoryLimits(entries: 500))
    let hot = 0..<250
    for _ in 0..<4 { for key in hot { _ = try notes.value(for: key) } }
    for key in hot.upperBound..<count {
      _ = try notes.value(for: key)
      if beside, key % 4 == 0 { _ = try notes.value(for: key / 4 % hot.count) }
    }
    let left = try kept(notes, hot)
    #expect(left.count >= 245, "\(left.count) of \(hot.count) after \(count) keys")
    #expect(try kept(notes, count - 20..<count).count == 20)
  }

  @Test func `a hot set that moves is followed`() throws {
    try fill(store, 0..<4000)
    let notes = cache(store, MemoryLimits(entries: 500))
    var random = SeededRNG(seed: 3)
    for phase in 0..<4 {
      let first = phase * 1000
      for _ in 0..<20_000 {
        let key =
          random.chance(percent: 80) ? first + random.next(in: 0..<300) : random.next(in: 0..<4000)
        _ = try notes.value(for: key)
      }
      #expect(try kept(notes, first..<first + 300).count > 270)
    }
  }

  @Test func `trimming keeps what is used most`() throws {
    try fill(store, 0..<100)
    let notes = cache(store, .default)
    let memory = try #require(notes.memory)
    for key in 0..<100 { _ = try notes.value(for: key) }
    for _ in 0..<3 { for key in 0..<30 { _ = try notes.value(for: key) } }
    memory.trim(toFraction: 0.5)
    #expect(memory.usage == MemoryUsage(cost: 500, entries: 50))
    memory.trim(to: 305)
    #expect(memory.usage == MemoryUsage(cost: 300, entries: 30))
    #expect(try kept(notes, 0..<30).count == 30)
    memory.trim(to: 1000)
    #expect(memory.usage.entries == 30)
    memory.removeAll()
    #expect(memory.usage == MemoryUsage() && store.memory.usage == MemoryUsage())
    #expect(try notes.value(for: 3)?.count == 10)
    memory.trim(toFraction: .nan)
    #expect(memory.usage == MemoryUsage())
    #expect(try notes.count() == 100)
  }

  @Test func `caches share the store's limit, and a scan leaves others their part`() throws {
    try store.declare(StoreLimits(memory: 10_000))
    let hot = store.cache(CountingCodec(), in: "hot")
    let scanned = cache(store, .default)
    for key in 0..<400 { try hot.set(String(repeating: "h", count: 10), for: key) }
    try fill(store, 0..<5000)
    for _ in 0..<3 { for key in 0..<400 { _ = try hot.value(for: key) } }
    for key in 0..<5000 {
      _ = try scanned.value(for: key)
      #expect(store.memory.usage.cost <= 10_000)
    }
    #expect(store.memory.usage.cost == 10_000 && store.memory.capacity.cost == 10_000)
    #expect(try kept(hot, 0..<400).count == 400)
    // The values of a new cache evict values of the largest cache, so the total cost stays at the limit.
    let third = store.cache(of: Int.self, in: "third")
    try third.set(1_234_567_890, for: "k")
    for _ in 0..<2 { #expect(try third.value(for: "k") == 1_234_567_890) }
    #expect(third.memory?.statistics.hits == 1 && store.memory.usage.cost == 10_000)
    try store.declare(StoreLimits(memory: 1000))
    #expect(store.memory.usage.cost <= 1000)
    store.trimMemory(toFraction: 0.5)
    #expect(store.memory.usage.cost <= 500)
    try store.declare(StoreLimits(memory: 0))
    #expect(try third.value(for: "k") == 1_234_567_890)
    #expect(store.memory.usage.cost == 0)
    try store.override(StoreLimits(memory: Limits.unlimited))
    #expect(store.engine.memory.budget.limit == .max)
    try store.override(StoreLimits())
    try store.declare(StoreLimits(memory: Limits.unlimited))
    #expect(store.engine.memory.budget.limit == .max)
    for key in 0..<5000 { _ = try scanned.value(for: key) }
    #expect(store.memory.usage.cost == 50_000)
  }

  @Test func `a value may use its cache when it goes`() throws {
    final class Page: Sendable, Codable {
      let text: String
      static let end = Mutex<(@Sendable () -> Void)?>(nil)
      init(_ text: String) { self.text = text }
      deinit { Page.end.withLock { $0 }?() }
    }
    let pages = store.cache(of: Page.self, in: "pages", memory: MemoryLimits(entries: 4))
    for key in 0..<20 { try pages.set(Page("\(key)"), for: key) }
    Page.end.withLock { end in end = { _ = pages.memory?.usage } }
    for key in 0..<20 { _ = try pages.value(for: key) }
    pages.memory?.trim(toFraction: 0.5)
    pages.memory?.removeAll()
    Page.end.withLock { $0 = nil }
  }

  @Test func `threads that read, write and trim keep every bound and read the truth`() throws {
    let notes = cache(store, MemoryLimits(cost: 2000, entries: 50))
    let isOver = Atomic(false)
    let floor = Shared([Int](repeating: 0, count: 64))
    try inThreads(4) { thread in
      var random = SeededRNG(seed: thread)
      if thread == 0 {
        defer { isOver.store(true, ordering: .sequentiallyConsistent) }
        for round in 1...4000 {
          let key = random.next(in: 0..<64)
          try notes.set("\(round)", for: key)
          floor.withLock { $0[key] = round }
        }
        return
      }
      while !isOver.load(ordering: .sequentiallyConsistent) {
        let key = random.next(in: 0..<64)
        let least = floor.withLock { $0[key] }
        let found = try notes.value(for: key).flatMap { Int($0) } ?? 0
        precondition(found >= least, "\(found) after \(least)")
        if thread == 3, random.chance(percent: 1) { notes.memory?.trim(toFraction: 0.5) }
        precondition(notes.memory!.limits.capacity.holds(notes.memory!.usage))
      }
    }
    notes.memory?.removeAll()
    #expect(store.engine.memory.budget.used == 0)
  }
}
