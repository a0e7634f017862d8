import ExampleTesting

@testable import Articles

/// Recorded answers of a real server, and real pages.
@Suite(.enabled(if: Folders.hasShared, "skipped: no recorded data"), .fixture(Fixture.self))
struct RealBodiesTests {
  private let fixture = Fixture.current

  private struct Derived: Decodable {
    var file: String
    var bookmark: Bookmark

    private enum CodingKeys: String, CodingKey {
      case file = "article_file"
      case bookmark
    }
  }

  @Test func `all recorded pages are stored byte for byte, in order`() async throws {
    let lines = try String(
      contentsOf: Folders.shared("articles/bookmarks_derived.jsonl"), encoding: .utf8)
    let derived = try lines.split(separator: "\n").map {
      try JSONDecoder().decode(Derived.self, from: Data($0.utf8))
    }.sorted { $0.bookmark.isNewer(than: $1.bookmark) }
    let folder = try Folders.shared("articles")
    let bodies = try derived.map { try Data(contentsOf: folder.appending(path: $0.file)) }
    fixture.readeck.pages = zip(derived, bodies).map { derived, body in
      FakeReadeck.Page(
        id: derived.bookmark.id, title: derived.bookmark.name, created: derived.bookmark.created,
        updated: derived.bookmark.updated, html: String(decoding: body, as: UTF8.self),
        entityTag: "\(body.count)")
    }
    try await fixture.reader.change(.test(articles: 100, keepsImages: false))
    let result = try await fixture.sync()
    #expect(result.outcome == .done && result.stored == derived.count && derived.count >= 70)
    let stored = try fixture.reader.stored()
    #expect(stored.ids == derived.map(\.bookmark.id) && stored.map(\.size) == bodies.map(\.count))
    fixture.network.fail()
    for (derived, body) in zip(derived, bodies) {
      #expect(try await Data(fixture.reader.article(derived.bookmark.id).html.utf8) == body)
    }
    let images = stored.flatMap(\.images)
    #expect(images.count > 100)
    #expect(
      images.allSatisfy { $0.hasPrefix("http") && !$0.contains(" ") && !$0.contains("&amp;") })
  }

  @Test func `a real article and list of the server decode`() throws {
    let file = try Folders.shared("articles/api/bookmarks.json")
    let bookmarks = try JSONDecoder().decode([Bookmark].self, from: Data(contentsOf: file))
    #expect(bookmarks.count == 4 && bookmarks.allSatisfy(\.hasArticle))
    let heavy = try String(
      contentsOf: Folders.shared("articles/api/article_body_heavy_example.html"), encoding: .utf8)
    let images = ImageAddresses.all(in: heavy, from: "https://readeck.example.test/api/x")
    #expect(!images.isEmpty)
    #expect(images.allSatisfy { $0.hasPrefix("https://readeck.example.test/bm/") })
  }
}
