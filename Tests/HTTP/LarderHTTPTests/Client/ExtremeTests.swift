import HTTPTypes
import Larder
import Synchronization
import TestSupport
import Testing

@testable import LarderHTTP

/// The smallest and largest numbers of a type, and readers that stop at any time.
struct ExtremeTests {
  @Test(arguments: [Int64.min, .min + 86_400, -1, 0, .max - 86_400, .max])
  func `a date of any number has a text`(seconds: Int64) {
    #expect(HTTPDate(seconds: seconds).text.hasSuffix(" GMT"))
    _ = HTTPDate(seconds: seconds).timestamp
    _ = HTTPDate(leniently: "Mon, 01 Jan 24 00:00:00 GMT", now: Timestamp(milliseconds: seconds))
  }

  @Test(arguments: [
    Duration.zero, .seconds(Int64.min), .seconds(Int64.max), .seconds(1e20), .seconds(-1e20),
  ])
  func `a policy may have any duration`(duration: Duration) async throws {
    let policy = HTTPCachePolicy(
      retention: duration, whenDisconnected: duration, longestHeuristic: duration,
      timeout: max(duration, .seconds(15)), largestVariantCount: duration > .zero ? .max : .min,
      rules: [
        HTTPCacheRule("*/ruled", freshness: duration),
        HTTPCacheRule("*", defaultFreshness: duration),
      ])
    let fields: Pairs = [("Last-Modified", date(-1_000_000)), ("ETag", "\"1\"")]
    let fixture = try Fixture(.page(fields), policy: policy)
    for path in ["/a", "/ruled", "/a", "/ruled"] {
      #expect(try await fixture.get(path).body == "body")
      fixture.clock.advance(by: .seconds(1_000))
      _ = try fixture.cache.peek(request("GET", path))
    }
    fixture.origin.become { _, _ in throw Origin.Down() }
    _ = try? await fixture.get("/a")
  }

  @Test func `saved counts of any size add up without a trap`() async throws {
    let fixture = try Fixture(.page("max-age=10"))
    let text = "hit fresh \(Int.max)\nforward stale \(Int.max)\nbytes-saved \(Int.max)\n"
    try await fixture.store.namespace(HTTPCache.statisticsNamespace).set(text, for: "http")
    for _ in 0..<2 {
      _ = try await fixture.get()
      try await fixture.cache.saveStatistics()
    }
    let saved = try fixture.cache.savedStatistics()
    #expect(saved.requests == .max && saved.hits[.fresh] == .max && saved.bytesSaved == .max)
  }

  @Test func `a reader that is cancelled does not wait for the origin`() async throws {
    let gate = Gate()
    let steps: [HTTPBody.Step] = [
      { [UInt8](repeating: 1, count: 1000) },
      {
        await gate.wait()
        return [2]
      },
    ]
    let fixture = try Fixture(.giving(LongBodyTests.fresh) { .steps(steps) })
    let result = try await fixture.cache.send(request())
    let pieces = Mutex(0)
    let isOver = Mutex(false)
    let reader = Task {
      defer { isOver.withLock { $0 = true } }
      for try await _ in result.body { pieces.withLock { $0 += 1 } }
    }
    try await waitUntil { pieces.withLock { $0 } == 1 }
    reader.cancel()
    try await waitUntil { isOver.withLock { $0 } }
    await #expect(throws: CancellationError.self) { try await reader.value }
    // The cancelled reader does not stop the body: the cache still stores it.
    await gate.open()
    try await waitUntil { try fixture.cache.peek(request()) != nil }
  }

  @Test func `a thousand directives are read in a moment`() {
    let names = (0..<4000).map { "no-cache=\"x-field-number-\($0)\"" }
    let fields = HTTPFields([("Cache-Control", names.joined(separator: ","))])
    let time = processorTime {
      #expect(ResponseDirectives(fields, for: .private).unusableFields.count == 4000)
    }
    #expect(time < .seconds(2))
  }
}
