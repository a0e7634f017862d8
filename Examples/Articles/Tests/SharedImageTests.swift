import Articles
import ExampleTesting
import Foundation
import Larder
import Testing

/// Images that several articles show, and articles that change while theirs are fetched.
@Suite struct SharedImageTests {
  private func entry(_ path: String, _ bench: Bench) throws -> Store.Entry? {
    try bench.store.namespace("articles.images").entry(for: bench.address(path))
  }

  /// Two articles that show an image, opened while that is on its way.
  private func fetchTogether(
    _ bench: Bench, meanwhile: () async throws -> Void = {}
  ) async throws {
    bench.readeck.fill(2)
    bench.readeck.change(FakeReadeck.id(0)) { $0.html = "<img src='/img/shared'>" }
    bench.readeck.change(FakeReadeck.id(1)) {
      $0.html = "<img src='/img/shared'>" + (1...5).map { "<img src='/img/\($0)'>" }.joined()
    }
    for name in ["shared", "1", "2", "3", "4", "5"] {
      bench.readeck.set(FakeReadeck.Image(), at: "/img/" + name)
    }
    let gate = bench.hold { $0.bare == "/img/shared" }
    _ = try await bench.reader.article(id: FakeReadeck.id(0))
    await bench.asked(for: "/img/shared")
    _ = try await bench.reader.article(id: FakeReadeck.id(1))
    // Its last image comes after it has begun to wait for the first.
    while try bench.images(of: 1) < 5 { await Task.yield() }
    try await meanwhile()
    gate.open()
    await bench.reader.finish()
  }

  @Test func `an image that two articles fetch at once belongs to both`() async throws {
    try await Bench.run { bench in
      try await fetchTogether(bench)
      #expect(bench.asked().images.filter { $0 == "/img/shared" }.count == 1)
      #expect(try entry("/img/shared", bench)?.owners.count == 2)
      try await bench.store.namespace("articles").remove(FakeReadeck.id(0))
      #expect(try entry("/img/shared", bench)?.owners.count == 1)
      try await bench.store.namespace("articles").remove(FakeReadeck.id(1))
      #expect(try bench.reader.usage().images == 0)
    }
  }

  @Test func `the second still gets it when the first leaves meanwhile`() async throws {
    try await Bench.run { bench in
      try await fetchTogether(bench) {
        try await bench.store.namespace("articles").remove(FakeReadeck.id(0))
      }
      #expect(try bench.images(of: 1) == 6)
      #expect(try entry("/img/shared", bench)?.size == 5)
    }
  }

  @Test func `an image that two lack is noted for both`() async throws {
    try await Bench.run { bench in
      bench.readeck.fill(2)
      for number in 0..<2 {
        bench.readeck.change(FakeReadeck.id(number)) { $0.html = "<img src='/img/none'>" }
      }
      let gate = bench.hold { $0.bare == "/img/none" }
      for number in 0..<2 { _ = try await bench.reader.article(id: FakeReadeck.id(number)) }
      await bench.asked(for: "/img/none")
      gate.open()
      await bench.reader.finish()
      #expect(try entry("/img/none", bench)?.owners.count == 2)
    }
  }

  @Test(arguments: [200, 404])
  func `an article that leaves while its images are fetched does not stop a sync`(status: Int)
    async throws
  {
    try await Bench.run { bench in
      bench.readeck.fill(5, images: 2)
      let (id, path) = (FakeReadeck.id(4), "/img/\(FakeReadeck.id(4))-0")
      bench.readeck.set(FakeReadeck.Image(status: status), at: path)
      bench.server.become { [readeck = bench.readeck, store = bench.store] request in
        if request.bare == path { try await store.namespace("articles").remove(id) }
        return readeck.answer(request)
      }
      let result = try await bench.sync()
      #expect(result.outcome == .done && result.stored == 5 && result.reason == nil)
      let usage = try bench.reader.usage()
      #expect(usage.articles == 4 && usage.images == 8)
    }
  }

  @Test(arguments: [5, 60_000_000])
  func `an image of the version before that comes late is not kept`(size: Int) async throws {
    try await Bench.run { bench in
      try await bench.reader.change(OfflineSettings(imageMegabytes: 50))
      bench.readeck.fill(1, images: 1)
      let (id, path) = (FakeReadeck.id(0), "/img/\(FakeReadeck.id(0))-0")
      bench.readeck.set(.init(bytes: [UInt8](repeating: 1, count: size)), at: path)
      bench.readeck.set(.init(), at: "/img/new")
      let gate = bench.hold { $0.bare == path }
      _ = try await bench.reader.article(id: id)
      await bench.asked(for: path)
      bench.readeck.change(id) {
        ($0.html, $0.updated, $0.entityTag) = ("<img src='/img/new'>", "2026-01-01T00:00:00Z", "1")
      }
      _ = try await bench.reader.article(try await bench.reader.unread().bookmarks[0])
      while try entry("/img/new", bench) == nil { await Task.yield() }
      gate.open()
      await bench.reader.finish()
      #expect(try entry(path, bench) == nil)
      let article = try #require(try bench.reader.stored().first)
      #expect(article.images == [bench.address("/img/new")] && !article.lacksImages)
      #expect(article.bookmark.updated == "2026-01-01T00:00:00Z")
      #expect(try bench.images(of: 0) == 1)
    }
  }

  @Test func `an edited article that is left without images is marked so`() async throws {
    try await Bench.run { bench in
      bench.readeck.fill(1, images: 3)
      let id = FakeReadeck.id(0)
      for number in 0..<3 {
        bench.readeck.set(
          .init(bytes: [UInt8](repeating: 1, count: 20_000_000)), at: "/img/\(id)-\(number)")
      }
      _ = try await bench.sync()
      bench.readeck.change(id) { ($0.updated, $0.entityTag) = ("2026-01-01T00:00:00Z", "1") }
      _ = try await bench.reader.unread()
      bench.wire.fail()
      try await bench.reader.change(OfflineSettings(imageMegabytes: 50))
      let article = try #require(try bench.reader.stored().first)
      #expect(article.lacksImages && article.isEdited)
      #expect(try bench.reader.usage().images == 0)
      #expect(try await bench.reader.article(id: id).isOutdated, "it is there all the same")
      bench.wire.heal()
      try await bench.reader.change(OfflineSettings(imageMegabytes: 100))
      _ = try await bench.sync()
      #expect(try bench.images(of: 0) == 3)
    }
  }
}
