import FleetKit
import Larder
import LarderRedis
import LarderShared
import LarderSharedTesting
import Synchronization
import Testing

private let isInstalled = RedisServer.program != nil
private let needsServer: Comment = "skipped: redis-server is not installed"

/// Stores of several machines over a real server.
@Suite(.enabled(if: isInstalled, needsServer)) struct MachineTests {
  private struct Machine {
    let store: Store
    let cache: SharedCache<String>

    init(_ server: RedisServer) throws {
      store = try Store.temporary()
      cache = store.cache(
        TextCodec(), in: "prices", rules: Rules(expires: .after(.minutes(10))),
        shared: try Shared(server.sender(), application: "shop", options: .patient))
    }
  }

  @Test func fiftyMachinesLoadAKeyOnce() async throws {
    let server = try await RedisServer()
    let machines = try (0..<50).map { _ in try Machine(server) }
    let loads = Counter()
    let values = try await withThrowingTaskGroup(of: String.self) { group in
      for machine in machines {
        group.addTask {
          try await machine.cache.value(for: "a") {
            let number = loads.next()
            // The load waits until all other machines have asked, so their requests come during this load.
            try await poll {
              machines.filter { $0.cache.shared.statistics.waits > 0 }.count == machines.count - 1
            }
            return "load \(number)"
          }
        }
      }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(values == ["load 1"])
    for machine in machines { #expect(try machine.store.verify().faults == []) }
  }

  /// Each store has a reader of the log, which waits for records. No reader waits for another reader.
  @Test func allStoresOfAProcessAreConfirmedAtATime() async throws {
    let server = try await RedisServer()
    let shared = try Shared(server.sender(), application: "shop", options: .patient)
    let stores = try (0..<12).map { _ in try Store.temporary() }
    let caches = stores.map { $0.cache(TextCodec(), in: "prices", shared: shared) }
    for cache in caches { _ = try await cache.value(for: "a") { "loaded" } }
    try await poll {
      try stores.allSatisfy { try SharedStatus(of: $0)?.isConfirmed == true }
    }
    try await caches[0].set("new", for: "a")
    for cache in caches { try await poll { try await cache.value(for: "a") { "loaded" } == "new" } }
  }

  @Test func changesAreSeenThroughTheServer() async throws {
    let server = try await RedisServer()
    let (one, two) = (try Machine(server), try Machine(server))
    try await one.cache.set("first", for: "a", tags: ["t"])
    #expect(try await two.cache.value(for: "a") { "loaded" } == "first")
    try await one.cache.set("second", for: "a", tags: ["t"])
    #expect(
      try await two.cache.currentResult(for: "a") { _ in .value("loaded") }?.value == "second")
    try await one.cache.invalidate(tag: "t")
    #expect(
      try await two.cache.currentResult(for: "a") { _ in .value("loaded") }?.value == "loaded")
    try await one.cache.clear()
    #expect(try await two.cache.currentResult(for: "a") { _ in .value("again") }?.value == "again")
    try await one.cache.remove("a")
    let last = try await two.cache.currentResult(for: "a") { _ in .value("last") }
    #expect(last?.value == "last" && last?.source == .loaded && last?.error == nil)
  }

  @Test func aFlushedAndARestartedServerAreFilledAgain() async throws {
    let server = try await RedisServer()
    let (one, two) = (try Machine(server), try Machine(server))
    _ = try await one.cache.value(for: "a") { "load 1" }
    _ = try await server.sender().send("FLUSHALL")
    #expect(try await two.cache.value(for: "a") { "load 2" } == "load 2")
    try await poll { one.cache.shared.statistics.gaps == 1 }
    #expect(try await one.cache.value(for: "a") { "load 3" } == "load 2")
    server.kill()
    let without = try await one.cache.result(for: "b") { "load 4" }
    #expect(without.value == "load 4" && without.error != nil)
    let next = try await RedisServer(port: server.port)
    try await poll {
      try await two.cache.currentResult(for: "c") { _ in .value("load 5") }?.error == nil
    }
    // The machine connects again by itself. Until then, the machine loads values without the tier.
    try await poll {
      try await one.cache.currentResult(for: "c") { _ in .value("load 6") }?.value == "load 5"
    }
    withExtendedLifetime(next) {}
  }

  @Test func aFullServerThatRefusesIsUsedAgainWhenItHasRoom() async throws {
    let server = try await RedisServer(["maxmemory-policy noeviction"])
    let machine = try Machine(server)
    try await machine.cache.set("first", for: "a")
    _ = try await server.sender().run("CONFIG", "SET", "maxmemory", "1")
    let error = await #expect(throws: LarderError.self) {
      try await machine.cache.set("second", for: "a")
    }
    #expect(error?.code == .unreachable)
    let result = try await machine.cache.result(for: "b") { "loaded" }
    #expect(result.value == "loaded" && result.error != nil && !result.isConfirmed)
    _ = try await server.sender().run("CONFIG", "SET", "maxmemory", "0")
    try await poll {
      try await machine.cache.currentResult(for: "b") { _ in .value("shared") }?.error == nil
    }
    #expect(
      try await machine.cache.currentResult(for: "a") { _ in .value("loaded") }?.value == "first")
  }

  @Test func aUserWithoutARightIsToldSoAndLoadsAlone() async throws {
    let server = try await RedisServer([
      "user default off", "user shop on >s3cret ~shop:* -@all +mget +get +time +evalsha +eval",
    ])
    let shared = try Shared(
      server.sender(user: "shop", password: "s3cret"), application: "shop", options: .patient)
    let cache = try Store.temporary().cache(TextCodec(), in: "prices", shared: shared)
    let error = await #expect(throws: LarderError.self) { try await cache.set("new", for: "a") }
    #expect(error?.code == .unreachable && error?.hint?.contains("rights") == true)
    let result = try await cache.result(for: "a") { "loaded" }
    #expect(result.value == "loaded" && result.error != nil && !result.isConfirmed)
  }

  @Test func aFullServerThatEvictsKeepsItsLogAndItsHead() async throws {
    let server = try await RedisServer(["maxmemory 3mb", "maxmemory-policy volatile-ttl"])
    let machine = try Machine(server)
    let value = String(repeating: "v", count: 20_000)
    for index in 0..<300 { try await machine.cache.set(value, for: "\(index)") }
    let sender = try server.sender()
    #expect(try await sender.send("EXISTS", "shop:{shop}:head", "shop:{shop}:log") == .number(2))
    let info = String(decoding: try await sender.send("INFO", "stats").bytes ?? [], as: UTF8.self)
    #expect(!info.contains("evicted_keys:0\r"))
  }
}

private final class Counter: Sendable {
  private let count = Atomic(0)

  func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
