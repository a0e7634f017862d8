import Synchronization
import TestSupport
import Testing

@testable import Larder

typealias TextLoad = Task<CacheResult<String>, any Error>

extension Origin {
  func ask(
    _ cache: Larder.Cache<String>, _ options: LoadOptions = .committed, for key: String = "thun"
  ) async throws -> CacheResult<String> {
    try await cache.result(for: key, options: options) { try await self.text() }
  }

  func startAsking(
    _ cache: Larder.Cache<String>, _ options: LoadOptions = .committed, for key: String = "thun"
  ) -> TextLoad { Task { try await ask(cache, options, for: key) } }

  /// Like `startAsking`, but closes the origin first, so the load waits. Returns when the load has begun.
  func startHeld(
    _ cache: Larder.Cache<String>, _ options: LoadOptions = .committed, for key: String = "thun"
  ) async throws -> TextLoad {
    close()
    let next = loads + 1
    let task = startAsking(cache, options, for: key)
    try await waitForLoads(next)
    return task
  }
}

final class Shared<Value: Sendable>: Sendable {
  private let stored: Mutex<Value>
  init(_ value: Value) { stored = Mutex(value) }
  var value: Value { stored.withLock { $0 } }
  func withLock<Result: Sendable>(_ body: (inout sending Value) throws -> Result) rethrows -> Result
  { try stored.withLock { value in try body(&value) } }
}

extension StoreSuite { var boards: Larder.Cache<String> { store.cache(TextCodec(), in: "boards") } }

extension Larder.Cache {
  /// Waits until no load runs, and verifies the store. A load runs until its value is committed and its task has ended.
  func settle() async throws { try await namespace.store.settle() }
}

extension Larder.Cache<String> {
  func settled(_ key: String = "thun") async throws -> String? {
    try await settle()
    return try value(for: key)
  }
}

extension Store {
  fileprivate func settle() async throws {
    // The queue of writes is empty only after each load knows the outcome of its commit.
    try await waitUntil { engine.loads.running.count == 0 && engine.loads.writes.isEmpty }
    #expect(try verify().faults == [])
  }
}

/// After each test of a suite, waits until no load runs in the stores of the fixtures, and verifies these stores.
struct Settling: SuiteTrait, TestTrait, TestScoping {
  @TaskLocal static var fixtures: Shared<[StoreFixture]>?
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let fixtures = Shared<[StoreFixture]>([])
    try await Self.$fixtures.withValue(fixtures) { try await function() }
    for fixture in fixtures.value { try await fixture.store.settle() }
  }
}

extension Trait where Self == Settling { static var settling: Self { Self() } }

extension [PeerProcess] {
  /// Lets the open peers load the same keys at once, and expects that each peer gets all keys. Returns the number of all loads.
  func loads(of keys: Int) throws -> Int {
    for peer in self { #expect(peer.line() == "open") }
    for peer in self { try peer.tell("go") }
    return reduce(0) { sum, peer in
      let counts = (peer.line() ?? "").split(separator: " ").compactMap { Int($0) }
      #expect(counts.last == keys)
      #expect(peer.line() == "closed")
      return sum + (counts.first ?? 0)
    }
  }
}
