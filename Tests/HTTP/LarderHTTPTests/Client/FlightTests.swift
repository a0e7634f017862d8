import Larder
import Synchronization
import TestSupport
import Testing

@testable import LarderHTTP

/// If many equal requests come at the same time, the cache sends only one of them to the origin.
struct FlightTests {
  @Test func `many that ask the same at once make one request`() async throws {
    let gate = Gate()
    let fixture = try Fixture(.behind(gate, .page("max-age=100")))
    try await withThrowingTaskGroup(of: String.self) { group in
      for index in 0..<200 {
        group.addTask { try await fixture.get("/\(index % 10)").body }
      }
      group.addTask {
        try await fixture.origin.wait(for: 10)
        await gate.open()
        return "body"
      }
      for try await body in group { #expect(body == "body") }
    }
    #expect(fixture.origin.count == 10)
  }

  @Test func `cancelling one who asks leaves the others`() async throws {
    let gate = Gate()
    let fixture = try Fixture(
      Origin { _, number in
        if number == 1 { try await Task.sleep(for: .seconds(1000)) }
        await gate.wait()
        return (response(200, [("Cache-Control", "max-age=100")]), HTTPBody("body"))
      })
    let first = Task { try await fixture.get().body }
    try await fixture.origin.wait(for: 1)
    let second = Task { try await fixture.get().body }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    await gate.open()
    #expect(try await second.value == "body")
  }

  @Test func `one refresh runs in the background while stale is served`() async throws {
    let fixture = try Fixture(.page("max-age=1, stale-while-revalidate=60"))
    _ = try await fixture.get()
    fixture.clock.advance(by: .seconds(3))
    let gate = Gate()
    fixture.origin.become(.behind(gate, .page("max-age=100", body: "new")))
    for _ in 0..<10 {
      let stale = try await fixture.get()
      #expect(stale.body == "body" && stale.result.reason == .staleWhileRevalidating)
    }
    try await fixture.origin.wait(for: 2)
    await gate.open()
    try await waitUntil { try await fixture.get().body == "new" }
    #expect(fixture.origin.count == 2)
  }

  @Test func `a refresh that fails costs nobody an answer`() async throws {
    let fixture = try Fixture(.page("max-age=1, stale-while-revalidate=60"))
    _ = try await fixture.get()
    fixture.clock.advance(by: .seconds(3))
    fixture.origin.become { _, _ in throw Origin.Down() }
    #expect(try await fixture.get().result.reason == .staleWhileRevalidating)
    try await fixture.origin.wait(for: 2)
    #expect(try await fixture.get().body == "body")
    #expect(try fixture.store.namespace("http").count() == 1)
  }

  /// The policy's closure stores a response after the cache has read the store and before the cache asks the origin.
  @Test func `an exchange that ended just before is not repeated`() async throws {
    let calls = Atomic(0)
    let action = Mutex<(@Sendable () throws -> Void)?>(nil)
    let failures = Mutex<[any Error]>([])
    let policy = HTTPCachePolicy(principal: { _ in
      // The first call, for the tags of the request, comes before the read of the store. The second call comes after the read.
      let isBetween = calls.add(1, ordering: .relaxed).newValue == 2
      do {
        if isBetween { try action.withLock { $0 }?() }
      } catch {
        failures.withLock { $0.append(error) }
      }
      return nil
    })
    let fixture = try Fixture(.page("max-age=1"), policy: policy)
    let (now, namespace) = (fixture.clock.now, fixture.store.namespace("http"))
    action.withLock {
      $0 = {
        let new = StoredResponse(
          response: response(200, [("Cache-Control", "max-age=100")]), requested: now,
          received: now, bodySize: 3, vary: .empty)
        try namespace.set(
          Array("new".utf8), for: "https://example.com/a", .with(metadata: new.encodedMetadata()))
      }
    }
    #expect(try await fixture.get().body == "new")
    #expect(fixture.origin.count == 0)
    #expect(failures.withLock { $0.isEmpty })
  }
}
