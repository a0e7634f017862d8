import Foundation
import Larder
import LarderRedis
import LarderShared
import LarderSharedTesting

/// Compares the tier with the simplest requests to the same Redis server. Ratios compare medians of alternating rounds.
public struct Measurement {
  private static let key = SharedKey(namespace: "plain", bytes: Array("key".utf8))
  private static let value = TierValue(
    frame: Array(repeating: 7, count: 4096), lifetime: .minutes(10), tags: [])
  /// The timeouts are long, so that no request fails on a busy machine.
  private static let patient = SharedOptions(readTimeout: .seconds(10), writeTimeout: .seconds(10))

  private let server: RedisServer
  private let sender: RedisSender
  private let tier: StreamTier

  /// Prints the ratios, each with its goal, in about a minute.
  ///
  /// - Parameter onlyRecords: whether to print only the ratios of the log's records.
  public static func run(onlyRecords: Bool = false) async throws {
    let server = try await RedisServer()
    let sender = try server.sender()
    let measurement = Measurement(
      server: server, sender: sender,
      tier: try StreamTier(sender, application: "test", options: patient))
    if onlyRecords { return try await measurement.records() }
    try await measurement.requests()
    try await measurement.hits(from: "memory", .default, goal: 1.1)
    try await measurement.hits(from: "disk", .off, goal: 1.05)
    try await measurement.changes()
    try await measurement.records()
    try await measurement.gap()
    try await measurement.loads()
  }

  private func requests() async throws {
    let plain = Array("plain".utf8)
    let words = [
      Array("SET".utf8), plain, Self.value.frame, Array("PX".utf8), Array("600000".utf8),
    ]
    var (get, fetch, set, change) = (Times(), Times(), Times(), Times())
    for _ in 0..<5000 {
      try await set.add { _ = try await sender.send(Command(words, timeout: .seconds(10))) }
      try await change.add { _ = try await tier.change(.set(Self.key, Self.value)) }
      try await get.add { _ = try await sender.run("GET", "plain") }
      try await fetch.add { _ = try await tier.fetch(Self.key, tags: []) }
    }
    report("fetch / GET", fetch, get, goal: 1.2)
    report("set / SET", change, set, goal: 1.8)
  }

  private func hits(
    from place: String, _ memory: MemoryLimits, goal: Double
  ) async throws {
    let store = try Store.temporary()
    let shared = Shared(tier)
    let plain = store.cache(of: String.self, in: "local", memory: memory)
    let cache = store.cache(of: String.self, in: "shared", memory: memory, shared: shared)
    // The rounds are short, so that most rounds are not interrupted even on a busy machine.
    for index in 0..<10 {
      try await plain.set("value", for: "\(index)")
      try await cache.set("value", for: "\(index)")
    }
    try await Self.until { try await cache.result(for: "0") { "loaded" }.isConfirmed }
    let before = shared.statistics
    var (hit, sharedHit) = (Times(), Times())
    for _ in 0..<10_000 {
      try await hit.add {
        for index in 0..<10 { _ = try await plain.value(for: "\(index)") { "loaded" } }
      }
      try await sharedHit.add {
        for index in 0..<10 { _ = try await cache.value(for: "\(index)") { "loaded" } }
      }
    }
    let after = shared.statistics
    report("10 hits from \(place), shared / local", sharedHit, hit, goal: goal)
    if after.hits != before.hits || after.unconfirmed != before.unconfirmed {
      print(
        "  of 100,000 reads \(after.hits - before.hits) asked the tier, and",
        "\(after.unconfirmed - before.unconfirmed) were not confirmed: the machine is busy")
    }
  }

  /// Measures the time until another machine has removed its copy. A subscriber of that machine's store sees the removal.
  private func changes() async throws {
    let store = try Store.temporary()
    let shared = try Shared(server.sender(), application: "test", options: Self.patient)
    let cache = store.cache(TextCodec(), in: Self.key.namespace, shared: shared)
    let tier = tier
    var (seen, made, trip) = (Times(), Times(), Times())
    var changes = store.changes(in: Self.key.namespace).makeAsyncIterator()
    // The reader takes all changes within its pace together, so the pause between two changes must be longer than the pace.
    let pause = SharedOptions().pace * 2
    for _ in 0..<200 {
      try await Self.until {
        try await cache.result(for: "key") { "loaded" }.isConfirmed
          // The store may still drop a value that is not committed. The removal of such a value would be no change.
          && cache.local.contains("key")
      }
      try await Task.sleep(for: pause)
      async let change = Times.time { _ = try await tier.change(.remove(Self.key)) }
      try await seen.add {
        while let next = await changes.next(), next.kind != .removed(.removed) {}
        guard try cache.local.value(for: "key") == nil else {
          throw NoServer(description: "a copy outlives the change that was seen")
        }
      }
      made.append(try await change)
      // An idle processor wakes up slowly. The same pause before this request lets both times include the waking.
      try await Task.sleep(for: pause)
      try await trip.add { _ = try await sender.run("GET", "nothing") }
    }
    report("change made / GET", made, trip, goal: 1.8)
    report("change seen by another machine / GET", seen, trip, goal: 3)
  }

  /// Measures the cost of a record whose key is absent: first of transfer, parsing and applying, then only of applying.
  private func records() async throws {
    let read = try await RecordCost.measure(on: tier, records: 30_000, Self.patient)
    report("a record of an absent key, read and applied / lookup", read.record, read.lookup)
    let applied = try await RecordCost.measure(on: MemoryTier(), records: 300_000, Self.patient)
    report(
      "a record of an absent key, applied / lookup", applied.record, applied.lookup, goal: 2)
  }

  /// Counts the requests after a gap: only the values that were changed are requested again.
  private func gap() async throws {
    let link = TierLink(to: tier)
    let cache = try Store.temporary().cache(
      TextCodec(), in: "gap", shared: Shared(link, options: Self.patient))
    for index in 0..<1200 { _ = try await cache.value(for: "\(index)") { "loaded" } }
    try await Self.until { try await cache.result(for: "0") { "loaded" }.isConfirmed }
    link.cut()
    try await Task.sleep(for: .seconds(3))
    for index in 0..<600 {
      _ = try await tier.change(
        .remove(SharedKey(namespace: "gap", bytes: Array("\(index)".utf8))))
    }
    link.restore()
    try await Self.until { cache.shared.statistics.superseded == 600 }
    let before = cache.shared.statistics
    for index in 0..<1200 { _ = try await cache.value(for: "\(index)") { "loaded" } }
    let after = cache.shared.statistics
    let sent = after.hits + after.misses - before.hits - before.misses
    print("values asked for after a gap / values changed: \(sent) / 600 (goal 1)")
  }

  /// Counts the loads of one new key for which fifty processes, each with its own store, ask at the same time.
  private func loads() async throws {
    let folder = NSTemporaryDirectory() + "/larder-measure-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let origin = Origin()
    let machines = try (0..<50).map { index in
      try MachineProcess(
        .init(
          program: CommandLine.arguments[0], store: "\(folder)/store\(index)",
          history: "\(folder)/history\(index)", ports: [server.port], machine: (index, 50),
          keys: 1, seed: 1), origin: origin)
    }
    for machine in machines { try await Self.until { await machine.ask("waits") == "0 true" } }
    await withTaskGroup { group in
      for machine in machines { group.addTask { _ = await machine.ask("one") } }
    }
    print("loads of one key that 50 processes ask for: \(origin.requests) (goal 1)")
  }

  static func until(_ condition: () async throws -> Bool) async throws {
    for _ in 0..<6000 {
      if try await condition() { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw NoServer(description: "a machine stays out of touch")
  }

  private func report(_ name: String, _ times: Times, _ base: Times, goal: Double) {
    report(name, times.median, base.median, goal: goal)
  }

  private func report(_ name: String, _ time: Duration, _ base: Duration, goal: Double? = nil) {
    let (time, other) = (time / .microseconds(1), base / .microseconds(1))
    let goal = goal.map { String(format: ", goal %g", $0) } ?? ""
    print(
      name + String(format: ": %.2f (%.2f us / %.2f us", time / other, time, other) + goal + ")")
  }

  /// The times of one kind of request.
  private struct Times {
    private var times: [Duration] = []

    var median: Duration { times.sorted()[times.count / 2] }

    mutating func add(_ request: () async throws -> Void) async throws {
      append(try await Self.time(request))
    }

    mutating func append(_ time: Duration) { times.append(time) }

    static func time(_ request: () async throws -> Void) async throws -> Duration {
      let start = ContinuousClock.now
      try await request()
      return start.duration(to: .now)
    }
  }
}
