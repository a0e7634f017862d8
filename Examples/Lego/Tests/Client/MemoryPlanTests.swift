import ExampleTesting
import Foundation
import Larder
import Service
import Testing

@testable import LegoCache

/// What a client keeps that keeps nothing on disk.
@Suite struct MemoryPlanTests {
  private let clock = ManualClock()

  private func run(
    _ tier: MemoryTier = .default, _ body: (FakeRebrickable, LegoClient) async throws -> Void
  ) async throws {
    try await FakeRebrickable.run { fake in
      let plan = CachePlan(memory: tier, disk: .disabled)
      try await body(fake, try LegoClient.temporary(of: fake, plan: plan, clock: clock))
    }
  }

  @Test(arguments: [(MemoryTier.default, 300), (.conservative, 60), (.production, 600)])
  func `that there is no such thing is known as long as anything, and for ten minutes at most`(
    tier: MemoryTier, seconds: Int
  ) async throws {
    try await run(tier) { (fake, lego) async throws in
      for _ in 1...3 { #expect(try await lego.color(777) == nil) }
      #expect(fake.server.count == 1)
      #expect(try lego.manager.counts().total == 0, "which is no entity")
      fake.put(Body.color(777, "New"), at: "/lego/colors/777/")
      clock.advance(by: .seconds(seconds) - .milliseconds(1))
      #expect(try await lego.color(777) == nil && fake.server.count == 1)
      clock.advance(by: .milliseconds(1))
      #expect(try await lego.color(777)?.value.name == "New")
      // And the other way round: what is gone is gone at once.
      fake.change { $0.things = [:] }
      #expect(try await lego.color(777, policy: .reload) == nil)
      #expect(try await lego.color(777) == nil && fake.server.count == 3)
      #expect(try await lego.color(777, policy: .cacheOnly) == nil)
    }
  }

  @Test func `what is past its time is given when the service fails, and said to be`() async throws
  {
    try await run { fake, lego in
      fake.put(Body.color(4), at: "/lego/colors/4/")
      fake.change { $0.lists["/lego/themes/"] = [Body.theme] }
      _ = try await lego.color(4)
      _ = try await lego.page(.themes)
      clock.advance(by: .seconds(300))
      fake.refuse(503, "", times: 2)
      let color = try await lego.color(4)
      #expect(color?.value.name == "Red" && color?.source == .stale)
      #expect(color?.error is ServiceError && color?.age == .seconds(300))
      let page = try await lego.page(.themes)
      #expect(page.value.count == 1 && page.source == .stale && page.error is ServiceError)
      #expect(try await lego.color(4, policy: .cacheOnly)?.source == .stale)
      #expect(try await lego.color(4)?.source == .loaded, "nobody is spared the next try")
      #expect(try await lego.color(4)?.source == .memory)
    }
  }

  @Test func `for thirty days, and until it is cleared`() async throws {
    try await run { fake, lego in
      fake.put(Body.color(4), at: "/lego/colors/4/")
      _ = try await lego.color(4)
      clock.advance(by: .seconds(300) + .days(30) - .milliseconds(1))
      fake.refuse(503, "", times: 3)
      #expect(try await lego.color(4)?.source == .stale)
      clock.advance(by: .milliseconds(1))
      await #expect(throws: ServiceError.self) { try await lego.color(4) }
      #expect(try lego.manager.clearExpired() == 1)
      #expect(try await lego.color(4, policy: .cacheOnly) == nil)
    }
  }

  @Test func `for thirty days it is also what who does not want to ask is given`() async throws {
    try await run { fake, lego in
      fake.put(Body.color(4), at: "/lego/colors/4/")
      fake.change { $0.lists["/lego/themes/"] = [Body.theme] }
      _ = try await lego.color(4)
      _ = try await lego.page(.themes)
      clock.advance(by: .seconds(300) + .days(30) - .milliseconds(1))
      for policy in [RequestPolicy.cacheOnly, .cacheElseLoad] {
        #expect(try await lego.color(4, policy: policy)?.source == .stale)
        #expect(try await lego.page(.themes, policy: policy).source == .stale)
      }
      #expect(fake.server.count == 2)
      clock.advance(by: .milliseconds(1))
      #expect(try await lego.color(4, policy: .cacheOnly) == nil)
      await #expect(throws: LarderError.self) { try await lego.page(.themes, policy: .cacheOnly) }
      #expect(fake.server.count == 2)
      #expect(try await lego.color(4, policy: .cacheElseLoad)?.source == .loaded)
      #expect(try await lego.page(.themes, policy: .cacheElseLoad).source == .loaded)
      #expect(fake.server.count == 4)
    }
  }

  @Test func `who is refused, or wants nothing older, gets no answer from before`() async throws {
    try await run { fake, lego in
      fake.put(Body.color(4), at: "/lego/colors/4/")
      _ = try await lego.color(4)
      clock.advance(by: .seconds(300))
      fake.refuse(403, #"{"detail": "Invalid credentials"}"#)
      await #expect(throws: ServiceError.self) { try await lego.color(4) }
      fake.refuse(503, "")
      await #expect(throws: ServiceError.self) { try await lego.color(4, policy: .reload) }
    }
  }

  @Test func `what is past its time is asked about by its tag`() async throws {
    try await run { fake, lego in
      fake.put(Body.color(4), at: "/lego/colors/4/")
      fake.change { $0.fields = ["ETag": "\"7\""] }
      _ = try await lego.color(4)
      clock.advance(by: .seconds(300))
      #expect(try await lego.color(4)?.value.name == "Red")
      #expect(fake.server.received.map { $0.fields["if-none-match"] } == [nil, "\"7\""])
      #expect(try await lego.color(4)?.source == .memory)
    }
  }
}
