import LarderMonitoring
import Synchronization
import TestSupport
import Testing

@testable import Larder

@Suite struct RuleVersionTests: StoreSuite {
  let fixture = StoreFixture()

  private func fill(_ count: Int) throws {
    try store.write { batch in
      for index in 0..<count { try batch.set("\(index)", for: "\(index)", in: notes) }
    }
  }

  @Test func `the rules of the highest version hold, whoever declares last`() throws {
    let old = Rules(expires: .after(.hours(1)), version: 1)
    let new = Rules(expires: .after(.hours(2)), version: 2)
    try store.declare(new, for: "notes")
    try store.declare(old, for: "notes")
    #expect(try store.namespace("notes").info()?.declared == new)
    try store.write { batch in try batch.declare(old, for: store.namespace("notes")) }
    let cache = store.cache(TextCodec(), in: "notes", rules: old)
    try cache.set("v", for: "k")
    #expect(try cache.namespace.info()?.declared == new)
    try store.declare(Rules(version: 3), for: "notes")
    #expect(try cache.namespace.info()?.declared == Rules(version: 3))
    // Among rules without a version, the last declaration holds.
    try store.declare(Rules(), for: "plain")
    try store.declare(old, for: "plain")
    try store.declare(Rules(jitter: 0.5, version: 1), for: "plain")
    #expect(try store.namespace("plain").info()?.declared.jitter == 0.5)
  }

  @Test
  func `a cache that lowers a limit evicts a thousand entries with each write, and it is reported`()
    throws
  {
    try fill(3500)
    let events = Mutex<[MonitoringEvent]>([])
    let monitor = StoreMonitor(
      of: store, report: .init(event: { event in events.withLock { $0.append(event) } }))
    monitor.lookOnce()
    let cache = store.cache(
      TextCodec(), in: "notes", rules: Rules(limits: Limits(entries: 500), version: 4))
    var counts: [Int] = []
    for _ in 0..<4 {
      try cache.set("v", for: "k")
      counts.append(try cache.count())
    }
    // The first call declares the limit, which already evicts entries, and then stores its entry.
    #expect(counts == [2500, 1500, 500, 500])
    #expect(try cache.namespace.info()?.declared.limits.entries == 500)
    monitor.lookOnce()
    let lowered = events.withLock { $0.filter { $0.name == "limit_lowered" } }
    #expect(lowered.count == 1 && lowered.first?.namespace == "notes")
    #expect(lowered.first?.message.contains("500 entries") == true)
    #expect(lowered.first?.message.contains("version 4") == true)
  }

  @Test func `a load lowers a limit in the same steps`() async throws {
    try fill(2500)
    let cache = store.cache(
      TextCodec(), in: "notes", rules: Rules(limits: Limits(entries: 300)))
    let options = LoadOptions(waitsForCommit: true)
    var counts: [Int] = []
    for index in 0..<4 {
      _ = try await cache.value(for: "new \(index)", options: options) { "v" }
      counts.append(try cache.count())
    }
    #expect(counts == [1500, 500, 300, 300])
  }

  @Test func `two caches with different memory limits do not replace each other's again and again`()
    throws
  {
    let (small, large) = (MemoryLimits(entries: 5), MemoryLimits(entries: 50))
    for round in 0..<3 {
      for limits in [small, large] {
        let cache = store.cache(TextCodec(), in: "notes", memory: limits)
        for index in 0..<20 {
          try cache.set("v", for: "\(index)")
          _ = try cache.value(for: "\(index)")
        }
        if round > 0 { #expect(cache.memory?.usage.entries == 20) }
        if round > 0 { #expect(cache.memory?.limits == large) }
      }
    }
    // A cache whose code now asks for other limits gets the new limits.
    #expect(
      store.cache(TextCodec(), in: "notes", memory: MemoryLimits(entries: 3)).memory?.usage
        .entries
        == 3)
  }
}
