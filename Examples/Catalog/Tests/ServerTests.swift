import Catalog
import ExampleTesting
import Foundation
import Larder
import LarderHTTP
import Service
import Synchronization
import Testing

/// Servers that have had enough, and such as give their pages no tags.
@Suite(.fixture(Fixture.self)) struct ServerTests {
  private let fixture = Fixture.current

  /// Answers so many requests with 429.
  private func refuse(_ count: Int, wait: Int, in fixture: Fixture) {
    let left = Mutex(count)
    fixture.server.become { [fake = fixture.fake] request in
      let isRefused = left.withLock { left in
        left -= 1
        return left >= 0
      }
      return isRefused ? .init(429, ["Retry-After": "\(wait)"]) : fake.answer(request)
    }
  }

  @Test func `a wait that is too long is an error, and what was kept stays`() async throws {
    fixture.fake.fill(120)
    let catalog = fixture.catalog()
    let all = try await catalog.all()
    fixture.clock.advance(by: .seconds(300))
    for (count, wait) in [(1, 600), (2, 5)] {
      refuse(count, wait: wait, in: fixture)
      await #expect { try await catalog.all() } throws: { error in
        if case ServiceError.throttled(.seconds(wait)) = error { true } else { false }
      }
    }
    #expect(fixture.waits.all == [.seconds(5)])
    _ = fixture.asked()
    #expect(try await catalog.all() == all)
    #expect(fixture.asked() == (3, 3))
  }

  @Test func `without tags the date of the last change does`() async throws {
    fixture.fake.change { $0.hasDatesOnly = true }
    fixture.fake.fill(120)
    let catalog = fixture.catalog()
    let all = try await catalog.all()
    _ = fixture.asked()
    fixture.clock.advance(by: .seconds(299))
    #expect(try await catalog.all() == all)
    #expect(fixture.asked().all == 0, "they were read together, and are fresh")
    fixture.clock.advance(by: .seconds(1))
    #expect(try await catalog.all() == all)
    let asked = fixture.server.received
    #expect(asked.count == 3)
    for request in asked {
      #expect(request.fields["if-none-match"] == nil)
      #expect(request.fields["if-modified-since"]?.hasPrefix("Thu, 01 Jan 2026 00:") == true)
    }
    #expect(catalog.metrics.confirmed == 3 && catalog.metrics.misses == 3)
  }

  @Test func `without tags a page that has changed is noticed`() async throws {
    fixture.fake.change { $0.hasDatesOnly = true }
    fixture.fake.fill(120)
    let catalog = fixture.catalog()
    _ = try await catalog.all()
    fixture.fake.change(VersionTests.move)
    // Another process asks for the first page alone.
    let first = try #require(fixture.server.received.first)
    _ = try await fixture.cache.send(fixture.request(first.path)).body.bytes()
    #expect(try await catalog.all().slugs == fixture.slugs())
  }

  @Test func `an answer without optional fields is a whole catalog`() async throws {
    fixture.server.become { _ in
      .init(
        200, ["Cache-Control": "max-age=300", "ETag": "\"1\""],
        text: #"""
          {"data": {"pillars": [{"pillar": {"id": "p", "title": "Sleep"},
            "funnels": [{"id": "1", "slug": "naps", "title": "Naps"}]}]}}
          """#)
    }
    let all = try await fixture.catalog().all()
    #expect(all.slugs == ["naps"] && all.uncategorized.isEmpty)
    #expect(fixture.server.count == 1)
  }

  @Test func `a page that cannot be decoded is requested again`() async throws {
    fixture.fake.fill(10)
    fixture.server.become { [fake = fixture.fake, server = fixture.server] request in
      server.count == 1
        ? .init(200, ["Cache-Control": "max-age=600"], text: #"{"data": 7}"#) : fake.answer(request)
    }
    let catalog = fixture.catalog()
    let all = try await catalog.all()
    #expect(all.slugs == fixture.slugs() && fixture.server.count == 2)
    #expect(try await catalog.all().slugs == fixture.slugs())
    #expect(fixture.server.count == 2)
  }
}
