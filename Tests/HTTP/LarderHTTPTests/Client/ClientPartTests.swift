import HTTPTypes
import Larder
import Synchronization
import TestSupport
import Testing

@testable import LarderHTTP

/// Tests of parts of a cache that keep a state. Each part is tested alone.
struct ClientPartTests {
  @Test func `a budget lends what it has, and gets it back`() {
    let budget = BufferBudget(100)
    #expect(budget.reserve(60) && !budget.reserve(41) && !budget.reserve(-1))
    #expect(budget.reserve(40) && budget.reserved == 100)
    budget.release(70)
    #expect(budget.reserved == 30 && budget.reserve(70))
  }

  @Test func `a body that is not collected leaves the budget as it was`() async throws {
    struct Broken: Error {}
    let budget = BufferBudget(10)
    #expect(try await budget.collect(HTTPBody([1, 2, 3]), upTo: 3) == [1, 2, 3])
    #expect(budget.reserved == 3)
    #expect(try await budget.collect(HTTPBody([1, 2, 3]), upTo: 2) == nil)
    #expect(try await budget.collect(HTTPBody([UInt8](repeating: 0, count: 8)), upTo: 9) == nil)
    let pieces = Mutex([[1, 2], [3]] as [[UInt8]])
    let broken = HTTPBody(next: {
      try pieces.withLock { pieces in
        if pieces.isEmpty { throw Broken() }
        return pieces.removeFirst()
      }
    })
    await #expect(throws: Broken.self) { try await budget.collect(broken, upTo: 9) }
    #expect(budget.reserved == 3)
  }

  @Test func `a permit ends with its tag, unless it is spared`() throws {
    let (permits, store) = (StorePermits(), try Store.temporary())
    let first = permits.issue(["host"], in: store)
    let second = permits.issue(["host", "user"], in: store)
    permits.add(["late"], to: first)
    _ = permits.revoke("user")
    #expect(first.isValid && !second.isValid)
    permits.add(["host"], to: second)
    _ = permits.revoke("host", except: first)
    #expect(first.isValid && !second.isValid)
    _ = permits.revoke("late")
    #expect(!first.isValid)
  }

  @Test func `a flight that is complete does not end the next one of its name`() async throws {
    let flights = SingleFlight<String>()
    #expect(flights.join("a", for: Flight.Outcome.self) == nil)
    let first = Flight("a", in: flights)
    let waiting = try #require(flights.join("a", for: Flight.Outcome.self))
    first.complete(.ownOnly)
    guard case .ownOnly = try await waiting.outcome() else {
      return #expect(Bool(false), "another outcome than the first")
    }
    #expect(flights.join("a", for: Flight.Outcome.self) == nil && flights.count == 1)
    first.complete(.arrived)
    #expect(flights.count == 1)
    Flight("a", in: flights).complete(.arrived)
    #expect(flights.count == 0)
  }

  @Test func `requests that may select different responses have different flights`() throws {
    func name(_ request: HTTPRequest, stored: [StoredResponse] = []) -> String? {
      let policy = HTTPCachePolicy()
      let forward = CacheForward(request, because: .uriMiss, stored: stored)
      return Flight.name(of: forward, under: ResponseKey(request), policy: policy)
    }
    let plain = try #require(name(request()))
    #expect(name(request([("X-Trace", "1")])) == plain)
    let others = [
      request("GET", "/b"), request("HEAD"), request([("Range", "bytes=1-")]),
      request([("Accept-Language", "de")]),
      request([("Authorization", "Bearer x")]),
    ].compactMap { name($0) }
    #expect(Set(others + [plain]).count == 6)
    #expect(name(request("POST")) == nil)
  }

  @Test func `what is remembered ends with a commit, and with its time`() {
    let known = RememberedResponses()
    let head = StoredResponse(
      response: response(), requested: start, received: start, bodySize: 0, vary: .empty)
    let stored = StoredVariant(
      key: "a", version: 1, response: head, tags: [], written: start,
      expires: start.advanced(by: .seconds(5)))
    known.keep([stored], of: "a", transaction: 7, size: 100)
    let later = start.advanced(by: .seconds(5))
    #expect(known.variants(of: "a", transaction: 7, at: start)?.count == 1)
    #expect(known.variants(of: "a", transaction: 8, at: start) == nil)
    #expect(known.variants(of: "a", transaction: 7, at: later) == nil)
    #expect(known.variants(of: "b", transaction: 7, at: start) == nil)
    known.keep([stored], of: "b", transaction: 7, size: 1 << 20)
    #expect(known.variants(of: "b", transaction: 7, at: start) == nil)
    for number in 1...20 {
      known.keep([stored], of: "\(number)", transaction: 7, size: 1 << 16)
    }
    #expect(known.variants(of: "a", transaction: 7, at: start) == nil)
    #expect(known.variants(of: "20", transaction: 7, at: start)?.count == 1)
  }
}
