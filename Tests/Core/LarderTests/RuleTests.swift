import Foundation
import LarderMonitoring
import Synchronization
import TestSupport
import Testing

@testable import Larder

@Suite struct DailyRuleTests: StoreSuite {
  let fixture = StoreFixture()
  private let zurich = Expiration.daily(at: TimeOfDay(4), in: "Europe/Zurich")

  @Test func `an entry is there until four in the morning and gone then`() throws {
    // 2026-03-28 22:30 in Zurich. In this night the clocks are put forward by an hour, so 04:00 comes an hour earlier.
    let start = Timestamp(try Date("2026-03-28T21:30:00Z", strategy: .iso8601))
    try withStore(at: start) { store, clock in
      let ships = store.namespace("ships")
      try store.declare(Rules(expires: zurich), for: "ships")
      try ships.set("v", for: "k")
      let end = Timestamp(try Date("2026-03-29T02:00:00Z", strategy: .iso8601))
      #expect(try ships.entry(for: "k")?.expires == end)
      #expect(try ships.entry(for: "k")?.timeToIdle == nil)
      clock.advance(by: clock.now.duration(to: end) - .milliseconds(1))
      #expect(try ships.text("k") == "v")
      #expect(try ships.touch("k"))
      clock.advance(by: .milliseconds(1))
      #expect(try ships.text("k") == nil)
      // A value that is written exactly at 04:00 expires a day later.
      try ships.set("w", for: "k")
      #expect(try ships.entry(for: "k")?.expires == end.advanced(by: .hours(24)))
    }
  }

  @Test func `an entry may have a daily end of its own`() throws {
    try notes.set("v", for: "k", expires: .daily(at: TimeOfDay(0), in: "America/New_York"))
    // At 2026-01-01 00:00 UTC it is 19:00 in New York, so the day ends there in five hours.
    #expect(try notes.entry(for: "k")?.expires == clock.now.advanced(by: .hours(5)))
  }

  @Test func `an unknown zone and a time that no clock shows are refused by name`() throws {
    for (rule, words) in [
      (Expiration.daily(at: TimeOfDay(4), in: "Europe/Atlantis"), "Europe/Atlantis"),
      (.daily(at: TimeOfDay(4), in: "../../etc/passwd"), "../../etc/passwd"),
      (.daily(at: TimeOfDay(24), in: "Europe/Zurich"), "24:00"),
      (.daily(at: TimeOfDay(-1), in: "Europe/Zurich"), "-1:00"),
      (.daily(at: TimeOfDay(4, 0, 60), in: "Europe/Zurich"), "04:00:60"),
    ] {
      for attempt in [
        { try store.declare(Rules(expires: rule), for: "notes") },
        { try notes.set("v", for: "k", expires: rule) },
      ] {
        let error = thrown(attempt)
        #expect(
          error?.code == .invalidArgument && error?.message.contains(words) == true, "\(rule)")
      }
    }
    #expect(try store.namespaces().allSatisfy { $0.rules == Rules() && $0.entries == 0 })
  }

  @Test func `clocks at the ends of time do not trap`() throws {
    for now in [Int64.min, Int64.min / 1000, -1, 0, 1, .max / 1000, .max] {
      let now = Timestamp(milliseconds: now)
      for zone in ["Europe/Zurich", "Australia/Lord_Howe", "UTC"] {
        let next = try ZoneRules.next(TimeOfDay(23, 59, 59), in: zone, after: now)
        #expect(next > now || now.milliseconds == .max)
      }
    }
  }
}

@Suite struct LifetimeRuleTests: StoreSuite {
  let fixture = StoreFixture()

  private func ends(_ notes: Store.Namespace, _ count: Int) throws -> [Duration] {
    try (0..<count).map { number in
      try notes.set("v", for: number)
      let entry = try #require(try notes.entry(for: number))
      return entry.written.duration(to: try #require(entry.expires))
    }
  }

  @Test func `jitter takes its part of a lifetime, spread evenly, and never gives any`() throws {
    try store.declare(Rules(expires: .after(.seconds(1000)), jitter: 0.2), for: "notes")
    let ends = try ends(notes, 2000)
    #expect(ends.allSatisfy { $0 <= .seconds(1000) && $0 > .seconds(800) })
    for fifth in 0..<5 {
      let range = Duration.seconds(800 + fifth * 40)..<Duration.seconds(840 + fifth * 40)
      #expect((300...500).contains(ends.filter { range.contains($0) }.count), "\(range)")
    }
  }

  @Test func `jitter depends on the key and the version alone`() throws {
    var runs: [[Duration]] = []
    for _ in 0..<2 {
      try withNotes(Rules(expires: .after(.hours(1)), jitter: 1)) { _, notes, clock in
        let first = try ends(notes, 50)
        clock.advance(by: .milliseconds(1))
        let second = try ends(notes, 50)
        #expect(first != second && first.allSatisfy { $0 > .zero })
        runs.append(first + second)
        // A touch keeps the jitter of the value, so the new expiry is later by exactly the millisecond that has passed.
        let entry = try #require(try notes.entry(for: 7))
        clock.advance(by: .milliseconds(1))
        try notes.touch(7)
        #expect(try notes.entry(for: 7)?.expires == entry.expires?.advanced(by: .milliseconds(1)))
      }
    }
    #expect(runs[0] == runs[1])
  }

  @Test func `a lifetime that a write says itself, a moment and never are kept exactly`() throws {
    try store.declare(Rules(expires: .after(.hours(1)), jitter: 0.5), for: "notes")
    try notes.set("v", for: "k", expires: .after(.hours(1)))
    #expect(try notes.entry(for: "k")?.expires == clock.now.advanced(by: .hours(1)))
    let moment = clock.now.advanced(by: .hours(3))
    try store.declare(Rules(expires: .at(moment), jitter: 0.5), for: "notes")
    try notes.set("v", for: "k")
    #expect(try notes.entry(for: "k")?.expires == moment)
    let impossible =
      ([-0.1, 1.1, .nan, .infinity] as [Double]).map { Rules(jitter: $0) } + [
        Rules(expires: .after(.seconds(-5))), Rules(expires: .after(.hours(2)), stale: .hours(-1)),
      ]
    for rules in impossible {
      #expect(failure { try store.declare(rules, for: "notes") } == .invalidArgument)
    }
  }

  @Test func `an operator's rules of time hold over the declared, and both can be seen`() throws {
    let declared = Rules(expires: .after(.hours(1)), stale: .minutes(1), jitter: 0.25)
    try store.declare(declared, for: "notes")
    let overrides = Rules.Overrides(
      expires: .afterAccess(.hours(2)), stale: .minutes(2), jitter: 0, largestValue: 100)
    try store.override(overrides, for: "notes")
    let facts = try #require(try notes.info())
    #expect(facts.declared == declared && facts.overrides == overrides)
    #expect(
      facts.rules == Rules(expires: .afterAccess(.hours(2)), stale: .minutes(2), largestValue: 100))
    try notes.set("v", for: "k")
    #expect(try notes.entry(for: "k")?.timeToIdle == .hours(2))
    try store.override(Rules.Overrides(), for: "notes")
    #expect(try notes.info()?.rules == declared)
  }

  @Test func `rules come back from JSON as they were, and unknown keys do no harm`() throws {
    let zone = "Europe/Zurich"
    for expiration in [
      Expiration.never, .after(.seconds(5)), .at(Timestamp(milliseconds: 7)),
      .daily(at: TimeOfDay(4, 30), in: zone), .daily(at: TimeOfDay(23, 59, 59), in: zone),
      .afterAccess(.hours(1)),
    ] {
      let rules = Rules(expires: expiration, stale: .seconds(1), jitter: 0.1)
      let data = try JSONEncoder().encode(rules)
      #expect(try JSONDecoder().decode(Rules.self, from: data) == rules)
      let later = "{\"moon\":\"full\"," + String(decoding: data, as: UTF8.self).dropFirst()
      #expect(try JSONDecoder().decode(Rules.self, from: Data(later.utf8)) == rules)
    }
    let overrides = Rules.Overrides(stale: .milliseconds(1500), jitter: 0.5)
    let data = try JSONEncoder().encode(overrides)
    #expect(try JSONDecoder().decode(Rules.Overrides.self, from: data) == overrides)
    func expiration(_ text: String) throws -> Expiration {
      try JSONDecoder().decode(Expiration.self, from: Data(text.utf8))
    }
    let text = "{\"daily\":\"04:00\",\"zone\":\"Europe/Zurich\",\"weekday\":1}"
    #expect(try expiration(text) == .daily(at: TimeOfDay(4), in: zone))
    // The decoder must refuse each of these texts. If the decoder read a text as `never`, entries would stay too long.
    for text in [
      "{\"weekly\":\"monday\"}", "{\"daily\":\"4 o'clock\",\"zone\":\"UTC\"}",
      "{\"daily\":\"04:00\"}", "{\"daily\":\"24:00\",\"zone\":\"UTC\"}",
      "{\"daily\":\"+4:00\",\"zone\":\"UTC\"}",
    ] { #expect(throws: DecodingError.self) { try expiration(text) } }
  }
}

@Suite struct RuleVersionTests: StoreSuite {
  let fixture = StoreFixture()

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

  @Test func `a cache that lowers a limit evicts 1,000 entries a write, and reports it`() throws {
    try notes.fill((0..<3500).map { "\($0)" })
    let events = Mutex<[MonitoringEvent]>([])
    let monitor = StoreMonitor(
      of: store, report: .init(event: { event in events.withLock { $0.append(event) } }))
    monitor.lookOnce()
    let cache = store.cache(
      TextCodec(), in: "notes", rules: Rules(limits: Limits(entries: 500), version: 4))
    let counts = try (0..<4).map { _ in
      try cache.set("v", for: "k")
      return try cache.count()
    }
    // The first call declares the limit, and this declaration already evicts entries. The call then stores its entry.
    #expect(counts == [2500, 1500, 500, 500])
    #expect(try cache.namespace.info()?.declared.limits.entries == 500)
    monitor.lookOnce()
    let lowered = events.withLock { $0.filter { $0.name == "limit_lowered" } }
    #expect(lowered.count == 1 && lowered.first?.namespace == "notes")
    #expect(lowered.first?.message.contains("500 entries") == true)
    #expect(lowered.first?.message.contains("version 4") == true)
  }

  @Test func `a load lowers a limit in the same steps`() async throws {
    try notes.fill((0..<2500).map { "\($0)" })
    let cache = store.cache(TextCodec(), in: "notes", rules: Rules(limits: Limits(entries: 300)))
    var counts: [Int] = []
    for index in 0..<4 {
      _ = try await cache.value(for: "new \(index)", options: .committed) { "v" }
      counts.append(try cache.count())
    }
    #expect(counts == [1500, 500, 300, 300])
  }

  @Test func `two caches with unequal memory limits do not swap them again and again`() throws {
    let (small, large) = (MemoryLimits(entries: 5), MemoryLimits(entries: 50))
    for round in 0..<3 {
      for limits in [small, large] {
        let cache = store.cache(TextCodec(), in: "notes", memory: limits)
        for index in 0..<20 {
          try cache.set("v", for: "\(index)")
          _ = try cache.value(for: "\(index)")
        }
        if round > 0 { #expect(cache.memory?.usage.entries == 20 && cache.memory?.limits == large) }
      }
    }
    // A cache whose code now asks for other limits gets the new limits.
    let limited = store.cache(TextCodec(), in: "notes", memory: MemoryLimits(entries: 3))
    #expect(limited.memory?.usage.entries == 3)
  }
}
