import Foundation
import HTTPTypes
import Larder
import LarderHTTPTesting
import TestSupport
import Testing

@testable import LarderHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct FaultyTransportTests {
  private struct Lost: Error {}

  private func cache(
    _ plan: [FaultyTransport.Fault]
  ) throws -> (cache: HTTPCache, network: FaultyTransport, origin: Origin, store: Store) {
    let origin = Origin.page("max-age=60", body: "0123456789")
    let network = FaultyTransport(over: origin)
    network.plan = plan
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    return (HTTPCache(in: store.namespace("http"), over: network), network, origin, store)
  }

  private func body(_ cache: HTTPCache) async throws -> String {
    try await cache.send(request()).body.text()
  }

  @Test func `requests meet the faults of the plan in order, and then none`() async throws {
    let (cache, network, origin, store) = try cache([
      .fail(Lost()), .lose(Lost()), .status(503), .cutBody(after: 4),
    ])
    await #expect(throws: Lost.self) { try await body(cache) }
    #expect(origin.count == 0)
    await #expect(throws: Lost.self) { try await body(cache) }
    #expect(origin.count == 1)
    #expect(try await cache.send(request()).response.status.code == 503)
    #expect(origin.count == 1)
    let cut = await #expect(throws: FaultyTransport.BodyCut.self) { try await body(cache) }
    #expect(cut?.received == 4)
    #expect(network.plan.isEmpty)
    #expect(try await body(cache) == "0123456789", "nothing of the cut answer was stored")
    #expect(origin.count == 3)
    #expect(try await body(cache) == "0123456789")
    #expect(origin.count == 3 && network.requests.count == 5)
    #expect(try store.verify().faults == [])
  }

  @Test func `each request without a network fails as one without a connection`() async throws {
    let store = try Store.temporary()
    let cache = HTTPCache(in: store.namespace("http"), over: FailingTransport.offline)
    for _ in 0..<2 {
      let error = await #expect(throws: URLError.self) { try await body(cache) }
      #expect(error?.code == .notConnectedToInternet)
    }
  }

  @Test func `a request that hangs ends with its task`() async throws {
    let (cache, network, origin, _) = try cache([.hang])
    let task = Task { try await body(cache) }
    try await waitUntil { !network.requests.isEmpty }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(origin.count == 0)
  }
}
