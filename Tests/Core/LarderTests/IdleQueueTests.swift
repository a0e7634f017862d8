import TestSupport
import Testing

@testable import Larder

extension IdleTests {
  @Test func `a write that fails loses no use`() throws {
    try notes.set("v", for: "k")
    clock.advance(by: .seconds(1000))
    #expect(try notes.text("k") == "v")
    #expect(throws: Stop.self) { try store.write { _ in throw Stop() } }
    #expect(store.engine.leftovers.accesses.queue.count == 1)
    timer.runOut()
    clock.advance(by: .seconds(1600))
    #expect(try notes.contains("k"))
  }

  @Test func `a use that meets a long write is written by a later timer`() async throws {
    let options = with(Store.Options(clock: clock, lockTimeout: .milliseconds(1))) {
      $0.hooks.timer = timer.start
    }
    let notes = try Store.temporary(options: options).namespace("notes")
    try await notes.set("v", for: "k", expires: .afterAccess(.seconds(1600)))
    clock.advance(by: .seconds(1000))
    let holder = await LockHolder(notes.store)
    #expect(try notes.text("k") == "v")
    timer.runOut()
    #expect(timer.delays == [.seconds(1)])
    holder.letGo()
    try await waitUntil {
      timer.runOut()
      return notes.store.engine.leftovers.accesses.queue.count == 0
    }
    #expect(try notes.header("k").expires == clock.now.advanced(by: .seconds(1700)).milliseconds)
  }

  @Test func `the queue is bounded, and a use that finds no room does no harm`() throws {
    let uses = PendingAccesses(timer: ManualTimer().start)
    for number in 0..<PendingAccesses.capacity + 100 {
      let use = PendingAccesses.Use(version: 1, moment: Int64(number))
      uses.add(use, for: Array("\(number)".utf8), delay: 1000)
    }
    let queue = uses.queue
    #expect(queue.count == PendingAccesses.capacity && queue.isFull)
    uses.add(.init(version: 1, moment: -7), for: Array("7".utf8), delay: 1000)
    #expect(queue[Array("7".utf8)]?.moment == -7)
    let taken = queue.take(1000)
    #expect(taken.count == 1000 && queue.count == PendingAccesses.capacity - 1000)
    #expect(!queue.isFull && queue[taken[0].key] != nil)
    queue.requeue(taken[500...])
    queue.confirm(Array(taken[..<500]))
    #expect(queue.count == PendingAccesses.capacity - 500 && queue[taken[0].key] == nil)
    #expect(queue[Array("\(PendingAccesses.capacity + 1)".utf8)] == nil)
  }

  @Test func `long keys, values in chunks and pinned entries count use as well`() throws {
    let values: [String: [UInt8]] = [
      String(repeating: "long", count: 100): [1, 2],
      "chunked": [UInt8](repeating: 3, count: 20_000), "pinned": [4],
    ]
    for (key, value) in values {
      try notes.set(
        value, for: key,
        .with(expires: .afterAccess(.hours(16)), tags: ["a", "b"], isPinned: key == "pinned"))
    }
    for _ in 0..<5 {
      clock.advance(by: .hours(16))
      for (key, value) in values { #expect(try notes.bytes(key) == value) }
      timer.runOut()
    }
    #expect(try notes.entry(for: "pinned")?.isPinned == true)
  }

  @Test func `a hit in memory is use, too`() throws {
    let texts = store.cache(TextCodec(), in: "notes")
    try texts.set("v", for: "set")
    try notes.set("v", for: "read")
    for round in 0..<20 {
      clock.advance(by: .seconds(1600))
      for key in ["set", "read"] {
        #expect(try texts.value(for: key) == "v", "\(round)")
        #expect(try texts.value(for: key) == "v")
      }
      // In every second round the timer runs out, so the store records the uses.
      if round % 2 == 0 { timer.runOut() }
    }
    timer.runOut()
    clock.advance(by: .seconds(50))
    #expect(try texts.value(for: "set") == "v")
    #expect(timer.delays.isEmpty)
    clock.advance(by: .seconds(1650))
    #expect(try texts.value(for: "set") == nil)
  }

  @Test(arguments: [3000, 6000])
  func `putting use down keeps the data file within its limit`(size: Int) throws {
    let limit = 4 << 20
    try store.declare(StoreLimits(disk: limit))
    let value = [UInt8](repeating: 7, count: size)
    for number in 0..<1000 { try notes.set(value, for: number) }
    let keys = try notes.page(limit: 1000).items.map(\.key)
    #expect(keys.count < 1000)
    for _ in 0..<3 {
      clock.advance(by: .seconds(1600))
      for key in keys { #expect(try notes.bytes(key) == value) }
      try store.engine.flushAccessTimes()
      #expect(try store.engine.leftovers.accesses.queue.count == 0 && notes.count() == keys.count)
      #expect(try store.statistics().file.size <= limit)
    }
    timer.runOut()
  }

  @Test func `a purge counts every expired entry, even if a use waits`() throws {
    try notes.set("v", for: "used")
    try notes.set("v", for: "gone", expires: .after(.seconds(100)))
    clock.advance(by: .seconds(1000))
    #expect(try notes.text("gone") == nil && notes.text("used") == "v")
    #expect(try store.purge() == RemovalResult(entries: 1, bytes: 1))
    timer.runOut()
  }

  @Test func `a write that makes room keeps an entry whose use is not written yet`() throws {
    // Near the disk limit, only commits of their own write the uses.
    try store.declare(StoreLimits(disk: 4_000_000))
    let limits = Limits(entries: 2)
    try store.declare(
      Rules(expires: .afterAccess(.seconds(1600)), limits: limits, eviction: .fifo), for: "notes")
    try notes.set("v", for: "first", expires: .never)
    try notes.set("v", for: "used")
    clock.advance(by: .seconds(1690))
    #expect(try notes.text("used") == "v")
    clock.advance(by: .seconds(20))
    try notes.set("v", for: "new")
    #expect(try notes.text("used") == "v" && notes.text("first") == nil)
    timer.runOut()
  }

  @Test func `the system's own timer puts a use down while nobody writes`() async throws {
    let notes = try Store.temporary(options: Store.Options(clock: clock)).namespace("notes")
    try await notes.set("v", for: "k", expires: .afterAccess(.seconds(1600)))
    clock.advance(by: .seconds(1000))
    let end = clock.now.advanced(by: .seconds(1700))
    #expect(try notes.text("k") == "v")
    try await waitUntil { try notes.header("k").expires == end.milliseconds }
    #expect(try notes.store.verify().faults == [])
  }
}
