import Catalog
import ExampleTesting
import Foundation
import Larder
import Testing

/// A user's session for which there is no room.
@Suite struct SessionTests {
  /// Leaves no room in the store for anything else.
  private func fill(_ store: Store) throws {
    try store.declare(Rules(eviction: .refuse), for: "others")
    for namespace in try store.namespaces() {
      try store.override(Rules.Overrides(eviction: .refuse), for: namespace.name)
    }
    try store.namespace("others").set([1], for: "one")
    try store.declare(StoreLimits(entries: Int(try store.statistics().entries)))
  }

  @Test func `where a first use finds the store full, everything is read and nothing kept`()
    async throws
  {
    try await Bench.run { bench in
      bench.fake.fill(120)
      try fill(bench.store)
      let catalog = bench.catalog()
      for _ in 0..<2 {
        #expect(try await catalog.all().slugs == bench.slugs())
        _ = try await catalog.funnel("f-1")
        #expect(bench.asked().all == 4)
      }
      #expect(try catalog.saveMetrics().reads == 8)
      // There is room again, and nothing that could end what it kept.
      try bench.store.declare(StoreLimits(entries: 100))
      _ = try await catalog.funnel("f-1")
      #expect(try bench.count() == 1)
      try await catalog.signOut()
      await #expect(throws: CatalogError.ended) { try await catalog.funnel("f-1") }
    }
  }

  @Test(arguments: [401, 403])
  func `a session for which there was no room is over too`(status: Int) async throws {
    try await Bench.run { bench in
      bench.fake.fill(10)
      try fill(bench.store)
      let (refused, other) = (bench.catalog(), bench.elsewhere())
      _ = try await other.funnel("f-1")
      bench.fake.change { $0.refusal = status }
      await #expect(throws: CatalogError.signedOut(status: status, message: "Not for you.")) {
        try await refused.funnel("f-1")
      }
      bench.fake.change { $0.refusal = nil }
      await #expect(throws: CatalogError.ended) { try await refused.funnel("f-1") }
      // Another one begins, for which there is room.
      try bench.store.declare(StoreLimits(entries: 100))
      try await bench.catalog().signIn()
      await #expect(throws: CatalogError.ended) { try await other.funnel("f-1") }
    }
  }

  @Test func `pages are read in a store that has become full`() async throws {
    try await Bench.run { bench in
      bench.fake.fill(120)
      let catalog = bench.catalog()
      _ = try await catalog.funnel("f-1")
      try fill(bench.store)
      #expect(try await catalog.all().slugs == bench.slugs())
    }
  }
}
