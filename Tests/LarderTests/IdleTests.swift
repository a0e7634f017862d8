import Foundation
import LMDB
import Synchronization
import Testing

@testable import Larder

/// A timer that runs out when the test says so.
private final class ManualTimer: Sendable {
  private let waiting = Mutex<[(delay: Duration, body: @Sendable () -> Void)]>([])

  var delays: [Duration] { waiting.withLock { $0.map(\.delay) } }

  @Sendable func start(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    waiting.withLock { $0.append((delay, body)) }
  }

  func runOut() {
    let due = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for timer in due { timer.body() }
  }
}

@Suite struct IdleTests {
  private func withIdleStore(
    _ interval: Duration = .seconds(1600), stale: Duration = .zero,
    _ body: (Store, Namespace, ManualClock, ManualTimer) throws -> Void
  ) throws {
    let timer = ManualTimer()
    let clock = ManualClock()
    var options = Store.Options(clock: clock)
    options.timer = timer.start
    let store = try Store.temporary(options: options)
    try store.declare(Rules(expires: .afterAccess(interval), stale: stale), for: "notes")
    try body(store, store.namespace("notes"), clock, timer)
    #expect(try store.verify().faults == [])
  }

  private func commits(_ store: Store) throws -> UInt64 { try store.core.beginRead().id }

  @Test func `an entry goes when it was not used for the interval and a sixteenth`() throws {
    try withIdleStore { store, notes, clock, _ in
      try notes.set("v", for: "k")
      let entry = try #require(try notes.entry(for: "k"))
      #expect(entry.idle == .seconds(1600))
      #expect(entry.expires == clock.now.advanced(by: .seconds(1700)))
      clock.advance(by: .seconds(1700) - .milliseconds(1))
      #expect(try notes.contains("k"))
      clock.advance(by: .milliseconds(1))
      #expect(try notes.text("k") == nil)
      #expect(try notes.count() == 0)
    }
  }

  @Test func `an entry that is used once in each interval stays, though nothing is ever written`()
    throws
  {
    try withIdleStore { store, notes, clock, timer in
      try notes.set("v", for: "k")
      let version = try notes.entry(for: "k")?.version
      let written = try notes.entry(for: "k")?.written
      for _ in 0..<50 {
        clock.advance(by: .seconds(1600))
        #expect(try notes.text("k") == "v")
        timer.runOut()
      }
      #expect(try notes.entry(for: "k")?.version == version)
      #expect(try notes.entry(for: "k")?.written == written)
      clock.advance(by: .seconds(1700))
      #expect(try notes.text("k") == nil)
    }
  }

  @Test func `use within a sixteenth of the interval costs nothing`() throws {
    try withIdleStore { store, notes, clock, timer in
      try notes.set("v", for: "k")
      let before = try commits(store)
      clock.advance(by: .seconds(100) - .milliseconds(1))
      for _ in 0..<1000 { #expect(try notes.text("k") == "v") }
      #expect(timer.delays.isEmpty && store.core.uses.count == 0)
      clock.advance(by: .milliseconds(1))
      for _ in 0..<1000 { #expect(try notes.text("k") == "v") }
      #expect(timer.delays == [.seconds(1)] && store.core.uses.count == 1)
      #expect(try commits(store) == before)
      timer.runOut()
      #expect(try commits(store) == before + 1)
      #expect(store.core.uses.count == 0)
      #expect(try notes.entry(for: "k")?.expires == clock.now.advanced(by: .seconds(1700)))
      for _ in 0..<1000 { #expect(try notes.text("k") == "v") }
      #expect(timer.delays.isEmpty)
    }
  }

  @Test func `looking is no use`() throws {
    try withIdleStore { store, notes, clock, timer in
      try notes.set("v", for: "k")
      clock.advance(by: .seconds(1000))
      _ = try notes.contains("k")
      _ = try notes.entry(for: "k")
      _ = try notes.page()
      _ = try notes.count()
      _ = try notes.facts()
      _ = try store.statistics()
      _ = try store.nextExpiries()
      try notes.scan { _, _ in true }
      try store.read { moment in
        _ = try moment.entry(for: "k", in: notes)
        _ = try moment.contains("k", in: notes)
      }
      _ = try store.write { batch in try batch.entry(for: "k", in: notes) }
      #expect(timer.delays.isEmpty && store.core.uses.count == 0)
      clock.advance(by: .seconds(700))
      #expect(try !notes.contains("k"))
    }
  }

  @Test func `every way to read a value is use`() throws {
    let cases: [(String, (Store, Namespace) throws -> Bool)] = [
      ("bytes", { try $1.bytes("k") != nil }),
      ("text", { try $1.text("k") != nil }),
      ("lent", { try $1.withValue(for: "k") { $0.count } != nil }),
      ("moment", { store, notes in try store.read { try $0.value(for: "k", in: notes) != nil } }),
      ("cache", { store, _ in try store.cache(TextCodec(), in: "notes").value(for: "k") != nil }),
      (
        "strict",
        { store, _ in try store.cache(TextCodec(), in: "notes").strictValue(for: "k") != nil }
      ),
      ("batch", { store, notes in try store.write { try $0.value(for: "k", in: notes) != nil } }),
      ("absent", { try !$1.setIfAbsent("w", for: "k") }),
    ]
    for (name, read) in cases {
      try withIdleStore { store, notes, clock, timer in
        try notes.set("v", for: "k")
        clock.advance(by: .seconds(1000))
        #expect(try read(store, notes), "\(name)")
        timer.runOut()
        clock.advance(by: .seconds(1600))
        #expect(try notes.text("k") == "v", "\(name)")
      }
    }
  }

  @Test func `use is put down by the next write, by a purge and by closing`() throws {
    let ways: [(String, (Store) throws -> Void)] = [
      ("write", { try $0.namespace("other").set("v", for: "k") }),
      ("purge", { try $0.purge() }),
      ("removal", { try $0.namespace("other").remove("k") }),
    ]
    for (name, way) in ways {
      try withIdleStore { store, notes, clock, _ in
        try notes.set("v", for: "k")
        clock.advance(by: .seconds(1000))
        #expect(try notes.text("k") == "v")
        let used = clock.now
        clock.advance(by: .seconds(10))
        try way(store)
        #expect(
          try notes.header("k").expires == used.advanced(by: .seconds(1700)).milliseconds, "\(name)"
        )
      }
    }
    try withDirectory { path in
      let clock = ManualClock()
      var store = try Store(at: path + "/s", options: .init(clock: clock))
      try store.namespace("notes").set("v", for: "k", expires: .afterAccess(.hours(1)))
      clock.advance(by: .minutes(50))
      #expect(try store.namespace("notes").text("k") == "v")
      try store.close()
      clock.advance(by: .minutes(60))
      store = try Store(at: path + "/s", options: .init(clock: clock))
      #expect(try store.namespace("notes").text("k") == "v")
      try store.close()
    }
  }

  @Test
  func `what was used before its end is there for this process though nobody has written it yet`()
    throws
  {
    try withIdleStore { store, notes, clock, timer in
      for number in 0..<200 { try notes.set("v", for: number) }
      clock.advance(by: .seconds(1650))
      for number in 0..<200 { #expect(try notes.text(number) == "v") }
      clock.advance(by: .seconds(1000))
      for number in 0..<200 {
        #expect(try notes.contains(number))
        #expect(try notes.text(number) == "v")
      }
      #expect(try notes.page(limit: 1000).items.count == 200)
      #expect(try store.purge() == Removal())
      clock.advance(by: .seconds(1699))
      #expect(try store.purge() == Removal())
      clock.advance(by: .seconds(1))
      #expect(try store.purge().entries == 200)
      _ = timer
    }
  }

  @Test func `a timer is set once, sooner for what ends soon, and again after it ran out`() throws {
    try withIdleStore { store, notes, clock, timer in
      for number in 0..<100 { try notes.set("v", for: number) }
      try notes.set("v", for: "short", expires: .afterAccess(.milliseconds(6400)))
      clock.advance(by: .milliseconds(6000))
      #expect(try notes.text("short") == "v")
      #expect(timer.delays == [.milliseconds(100)])
      timer.runOut()
      clock.advance(by: .seconds(1690))
      for number in 0..<100 { _ = try notes.text(number) }
      // 4 s are left; the longest wait is a second.
      #expect(timer.delays == [.seconds(1)])
      timer.runOut()
      #expect(store.core.uses.count == 0)
    }
  }

  @Test func `a touch, another lifetime and an overwrite decide anew whether use counts`() throws {
    try withIdleStore(stale: .seconds(5)) { store, notes, clock, timer in
      try notes.set("v", for: "k")
      let stored = try #require(try notes.entry(for: "k")).stored
      clock.advance(by: .seconds(500))
      #expect(try notes.text("k") == "v")
      try notes.expire("k", .after(.seconds(10)))
      var entry = try #require(try notes.entry(for: "k"))
      #expect(entry.idle == nil && entry.stored == stored - 13)
      #expect(entry.expires == clock.now.advanced(by: .seconds(10)))
      timer.runOut()
      #expect(try notes.entry(for: "k")?.expires == clock.now.advanced(by: .seconds(10)))
      try notes.touch("k")
      entry = try #require(try notes.entry(for: "k"))
      #expect(entry.idle == .seconds(1600) && entry.stored == stored)
      #expect(entry.expires?.advanced(by: .seconds(5)) == entry.staleUntil)
      clock.advance(by: .seconds(500))
      #expect(try notes.text("k") == "v")
      // The value that was used is another one.
      try notes.set("w", for: "k", expires: .after(.seconds(20)))
      timer.runOut()
      #expect(try notes.entry(for: "k")?.expires == clock.now.advanced(by: .seconds(20)))
      try notes.set("x", for: "zero", expires: .afterAccess(.zero))
      #expect(try notes.text("zero") == nil)
      try notes.set("x", for: "ever", expires: .afterAccess(.days(Int.max)))
      clock.advance(by: .days(10_000))
      #expect(try notes.text("ever") == "x")
      for interval in [Duration.zero, .seconds(-1)] {
        #expect(
          failure { try store.declare(Rules(expires: .afterAccess(interval)), for: "notes") }
            == .invalidArgument)
      }
    }
  }

  @Test func `a write that fails loses no use`() throws {
    try withIdleStore { store, notes, clock, timer in
      try notes.set("v", for: "k")
      clock.advance(by: .seconds(1000))
      #expect(try notes.text("k") == "v")
      #expect(throws: Outcome.self) { try store.write { _ in throw Outcome() } }
      #expect(store.core.uses.count == 1)
      timer.runOut()
      clock.advance(by: .seconds(1600))
      #expect(try notes.contains("k"))
    }
  }
  private struct Outcome: Error {}

  @Test func `the queue is bounded, and a use that finds no room does no harm`() throws {
    let queue = UseQueue()
    for number in 0..<UseQueue.capacity + 100 {
      let slot = Array("\(number)".utf8)
      _ = queue.add(.init(slot: slot, version: 1, moment: Int64(number)), delay: 1000)
    }
    #expect(queue.count == UseQueue.capacity)
    _ = queue.add(.init(slot: Array("7".utf8), version: 1, moment: -7), delay: 1000)
    #expect(queue.pending(Array("7".utf8))?.moment == -7)
    let taken = queue.take(1000)
    #expect(taken.count == 1000 && queue.count == UseQueue.capacity - 1000)
    queue.finish(taken, done: false)
    #expect(queue.count == UseQueue.capacity)
    #expect(queue.pending(Array("\(UseQueue.capacity + 1)".utf8)) == nil)
  }

  @Test func `long keys, values in chunks and pinned entries count use as well`() throws {
    let timer = ManualTimer()
    let clock = ManualClock()
    var options = Store.Options(clock: clock)
    options.timer = timer.start
    options.chunksAbove = 5000
    let store = try Store.temporary(options: options)
    let notes = store.namespace("notes")
    let values: [String: [UInt8]] = [
      String(repeating: "long", count: 100): [1, 2],
      "chunked": [UInt8](repeating: 3, count: 20_000),
      "pinned": [4],
    ]
    for (key, value) in values {
      var attributes = EntryAttributes(expires: .afterAccess(.hours(16)))
      attributes.tags = ["a", "b"]
      attributes.isPinned = key == "pinned"
      try notes.put(value.span, for: key, attributes: attributes)
    }
    for _ in 0..<5 {
      clock.advance(by: .hours(16))
      for (key, value) in values { #expect(try notes.bytes(key) == value) }
      timer.runOut()
    }
    #expect(try notes.entry(for: "pinned")?.isPinned == true)
    #expect(try store.verify().faults == [])
  }

  @Test func `a hit in memory is use, too`() throws {
    try withIdleStore { store, notes, clock, timer in
      let texts = store.cache(TextCodec(), in: "notes")
      try texts.set("v", for: "set")
      try notes.set("v", for: "read")
      for round in 0..<20 {
        clock.advance(by: .seconds(1600))
        for key in ["set", "read"] {
          #expect(try texts.value(for: key) == "v", "\(round)")
          #expect(try texts.value(for: key) == "v")
        }
        // Whether or not it was put down meanwhile.
        if round % 2 == 0 { timer.runOut() }
      }
      timer.runOut()
      clock.advance(by: .seconds(50))
      #expect(try texts.value(for: "set") == "v")
      #expect(timer.delays.isEmpty)
      clock.advance(by: .seconds(1650))
      #expect(try texts.value(for: "set") == nil)
    }
  }

  @Test func `putting use down keeps the data file within its limit`() throws {
    try withIdleStore { store, notes, clock, timer in
      let limit = 4 << 20
      try store.declare(StoreLimits(disk: limit))
      let value = [UInt8](repeating: 7, count: 6000)
      for number in 0..<900 { try notes.set(value, for: number) }
      let keys = try notes.page(limit: 1000).items.map(\.key)
      #expect(keys.count < 900)
      for _ in 0..<3 {
        clock.advance(by: .seconds(1600))
        for key in keys { #expect(try notes.bytes(key) == value) }
        try store.core.putUsesDown()
        #expect(store.core.uses.count == 0)
        #expect(try store.statistics().file.size <= limit)
      }
      timer.runOut()
    }
  }

  @Test func `the system's own timer puts a use down while nobody writes`() throws {
    try withStore { store, clock in
      let notes = store.namespace("notes")
      try notes.set("v", for: "k", expires: .afterAccess(.seconds(1600)))
      clock.advance(by: .seconds(1000))
      let end = clock.now.advanced(by: .seconds(1700))
      #expect(try notes.text("k") == "v")
      let limit = ContinuousClock.now + .seconds(60)
      while try notes.header("k").expires != end.milliseconds, ContinuousClock.now < limit {
        Thread.sleep(forTimeInterval: 0.01)
      }
      #expect(try notes.header("k").expires == end.milliseconds)
    }
  }
}
