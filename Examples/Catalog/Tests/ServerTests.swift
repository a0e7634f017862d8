import Catalog
import ExampleTesting
import Foundation
import Larder
import LarderHTTP
import Service
import Synchronization
import Testing

/// Servers that have had enough, and such as give their pages no tags.
@Suite struct ServerTests {
  /// Answers so many requests with 429.
  private func refuse(_ count: Int, wait: Int, in bench: Bench) {
    let left = Mutex(count)
    bench.server.become { [fake = bench.fake] request in
      let isRefused = left.withLock { left in
        left -= 1
        return left >= 0
      }
      return isRefused ? .init(429, ["Retry-After": "\(wait)"]) : fake.answer(request)
    }
  }

  @Test func `a server that is asked too often is asked again after its wait`() async throws {
    try await Bench.run { bench in
      bench.fake.fill(120)
      let catalog = bench.catalog()
      refuse(1, wait: 7, in: bench)
      #expect(try await catalog.all().slugs == bench.slugs())
      #expect(bench.waits.all == [.seconds(7)])
      #expect(bench.asked().all == 4)
      let plus = try await catalog.filtered(by: "plus")
      refuse(1, wait: 3, in: bench)
      #expect(try await plus.all().slugs == bench.slugs(tier: "plus"))
      #expect(bench.waits.all == [.seconds(7), .seconds(3)])
    }
  }

  @Test func `a wait that is too long is an error, and what was kept stays`() async throws {
    try await Bench.run { bench in
      bench.fake.fill(120)
      let catalog = bench.catalog()
      let all = try await catalog.all()
      bench.clock.advance(by: .seconds(300))
      for (count, wait) in [(1, 600), (2, 5)] {
        refuse(count, wait: wait, in: bench)
        await #expect {
          try await catalog.all()
        } throws: { error in
          if case ServiceError.throttled(.seconds(wait)) = error { true } else { false }
        }
      }
      #expect(bench.waits.all == [.seconds(5)])
      _ = bench.asked()
      #expect(try await catalog.all() == all)
      #expect(bench.asked() == (3, 3))
    }
  }

  @Test func `without tags the date of the last change does`() async throws {
    try await Bench.run { bench in
      bench.fake.change { $0.hasDatesOnly = true }
      bench.fake.fill(120)
      let catalog = bench.catalog()
      let all = try await catalog.all()
      _ = bench.asked()
      bench.clock.advance(by: .seconds(299))
      #expect(try await catalog.all() == all)
      #expect(bench.asked().all == 0, "they were read together, and are fresh")
      bench.clock.advance(by: .seconds(1))
      #expect(try await catalog.all() == all)
      let asked = bench.server.received
      #expect(asked.count == 3)
      for request in asked {
        #expect(request.fields["if-none-match"] == nil)
        #expect(request.fields["if-modified-since"]?.hasPrefix("Thu, 01 Jan 2026 00:") == true)
      }
      #expect(catalog.metrics.confirmed == 3 && catalog.metrics.misses == 3)
    }
  }

  @Test func `without tags a page that has changed is noticed`() async throws {
    try await Bench.run { bench in
      bench.fake.change { $0.hasDatesOnly = true }
      bench.fake.fill(120)
      let catalog = bench.catalog()
      _ = try await catalog.all()
      bench.fake.change(VersionTests.move)
      // Another process asks for the first page alone.
      let first = try #require(bench.server.received.first)
      _ = try await bench.cache.send(bench.request(first.path)).body.bytes()
      #expect(try await catalog.all().slugs == bench.slugs())
    }
  }
}
