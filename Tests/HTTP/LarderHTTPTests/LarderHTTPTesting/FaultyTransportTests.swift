import Foundation
import HTTPTypes
import LarderHTTPTesting
import TestSupport
import Testing

@testable import LarderHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct FaultyTransportTests {
  private func fixture(
    _ plan: [FaultyTransport.Fault]
  ) throws -> (fixture: Fixture, network: FaultyTransport) {
    let origin = Origin.page("max-age=60", body: "0123456789")
    let network = FaultyTransport(over: origin)
    network.plan = plan
    return (try Fixture(origin, over: network), network)
  }

  @Test func `requests meet the faults of the plan in order, and then none`() async throws {
    let (fixture, network) = try fixture([
      .fail(Origin.Down()), .lose(Origin.Down()), .status(503), .cutBody(after: 4),
    ])
    await #expect(throws: Origin.Down.self) { try await fixture.get() }
    #expect(fixture.origin.count == 0)
    await #expect(throws: Origin.Down.self) { try await fixture.get() }
    #expect(fixture.origin.count == 1)
    #expect(try await fixture.get().result.response.status.code == 503)
    #expect(fixture.origin.count == 1)
    let cut = await #expect(throws: FaultyTransport.BodyCut.self) { try await fixture.get() }
    #expect(cut?.received == 4)
    #expect(network.plan.isEmpty)
    #expect(try await fixture.get().body == "0123456789", "nothing of the cut answer was stored")
    #expect(fixture.origin.count == 3)
    #expect(try await fixture.get().body == "0123456789")
    #expect(fixture.origin.count == 3 && network.requests.count == 5)
  }

  @Test func `each request without a network fails as one without a connection`() async throws {
    let fixture = try Fixture(over: FailingTransport.offline)
    for _ in 0..<2 {
      let error = await #expect(throws: URLError.self) { try await fixture.get() }
      #expect(error?.code == .notConnectedToInternet)
    }
  }

  @Test func `a request that hangs ends with its task`() async throws {
    let (fixture, network) = try fixture([.hang])
    let task = Task { try await fixture.get() }
    try await waitUntil { !network.requests.isEmpty }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(fixture.origin.count == 0)
  }
}
