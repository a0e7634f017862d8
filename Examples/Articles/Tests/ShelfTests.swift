import Articles
import ExampleTesting
import Foundation
import Larder
import Testing

/// What is kept, what leaves when, and what the settings do.
@Suite struct ShelfTests {
  @Test func `the oldest leave for newer ones, and nothing else is fetched`() async throws {
    try await Bench.run { bench in
      bench.readeck.fill(20, images: 1)
      _ = try await bench.sync()
      _ = bench.asked()
      bench.readeck.fill(5, images: 1, from: 20)
      #expect(try await bench.sync().stored == 5)
      let asked = bench.asked()
      #expect(asked.lists == 1 && asked.bodies.count == 5 && asked.images.count == 5)
      #expect(try bench.reader.stored().ids == (5..<25).reversed().map(FakeReadeck.id))
      #expect(try bench.reader.usage().images == 20, "those of the oldest left with them")
      #expect(try await bench.sync().outcome == .nothingNew)
    }
  }

  @Test func `an edited article does not become one that stays for that`() async throws {
    try await Bench.run { bench in
      try await bench.reader.change(OfflineSettings(articles: 10))
      bench.readeck.fill(10)
      _ = try await bench.sync()
      // The oldest is written last, and then read to its end: it is not listed any more.
      bench.readeck.change(FakeReadeck.id(0)) {
        $0.updated = "2026-01-01T00:00:00Z"
        $0.entityTag = "ff"
      }
      #expect(try await bench.sync().stored == 1)
      bench.readeck.pages.removeAll { $0.id == FakeReadeck.id(0) }
      bench.readeck.fill(1, from: 10)
      #expect(try await bench.sync().stored == 1)
      #expect(try await bench.sync().outcome == .nothingNew)
      #expect(try bench.reader.stored().ids == (1..<11).reversed().map(FakeReadeck.id))
    }
  }

  @Test func `a lower limit lets the oldest go, and 0 keeps none`() async throws {
    try await Bench.run { bench in
      bench.readeck.fill(20, images: 2)
      _ = try await bench.sync()
      try await bench.reader.change(OfflineSettings(articles: 10))
      #expect(try bench.reader.stored().ids == (10..<20).reversed().map(FakeReadeck.id))
      #expect(try bench.reader.usage().images == 20)
      #expect(
        try bench.store.namespaces().first { $0.name == "articles" }?.rules.limits.entries == 10,
        "whoever writes obeys it")
      try await bench.reader.change(OfflineSettings(articles: 0))
      let usage = try bench.reader.usage()
      #expect(usage.articles == 0 && usage.images == 0)
      _ = bench.asked()
      #expect(try await bench.sync().outcome == .nothingNew)
      #expect(bench.server.count == 0)
      let article = try await bench.reader.article(id: FakeReadeck.id(3))
      #expect(!article.isKept && article.html.contains("3"))
      #expect(try bench.reader.stored().isEmpty)
    }
  }

  @Test func `an image that two articles show is fetched once, and leaves with the last`()
    async throws
  {
    try await Bench.run { bench in
      try await bench.reader.change(OfflineSettings(articles: 10))
      bench.readeck.fill(10)
      for number in 0..<2 {
        bench.readeck.change(FakeReadeck.id(number)) { $0.html = "<img src='/img/shared'>" }
      }
      bench.readeck.set(FakeReadeck.Image(), at: "/img/shared")
      _ = try await bench.sync()
      #expect(bench.asked().images == ["/img/shared"])
      let images = bench.store.namespace("articles.images")
      let address = bench.address("/img/shared")
      #expect(try images.entry(for: address)?.owners.count == 2)
      bench.readeck.fill(1, from: 10)
      _ = try await bench.sync()
      #expect(
        try images.entry(for: address)?.owners.map(\.key.description) == [FakeReadeck.id(1)])
      bench.readeck.fill(1, from: 11)
      _ = try await bench.sync()
      #expect(try images.count() == 0)
    }
  }

  @Test func `images that do not fit leave an article whole without them, and marked`()
    async throws
  {
    try await Bench.run { bench in
      try await bench.reader.change(OfflineSettings(imageMegabytes: 50))
      bench.readeck.fill(3, images: 3)
      let large = [UInt8](repeating: 7, count: 17_000_000)
      for page in bench.readeck.pages.prefix(2) {
        for number in 0..<3 {
          bench.readeck.set(.init(bytes: large), at: "/img/\(page.id)-\(number)")
        }
      }
      let result = try await bench.sync()
      #expect(result.outcome == .done && result.stored == 3)
      let stored = try bench.reader.stored()
      #expect(stored.map(\.lacksImages) == [true, true, false])
      #expect(try bench.reader.usage().imageBytes == 15, "none of those that do not fit is left")
      #expect(try await bench.reader.article(id: stored[0].bookmark.id).html.contains("<img"))
      _ = bench.asked()
      #expect(try await bench.sync().outcome == .nothingNew)
      #expect(bench.server.count == 1, "nor are they fetched again and again")

      try await bench.reader.change(OfflineSettings(imageMegabytes: 60))
      _ = try await bench.sync()
      #expect(try bench.reader.stored().map(\.lacksImages) == [false, true, false])
      #expect(try bench.reader.usage().imageBytes == 3 * large.count + 15)

      // The images of the oldest go first, as articles do.
      try await bench.reader.change(OfflineSettings(imageMegabytes: 50))
      #expect(try bench.reader.stored().map(\.lacksImages) == [true, true, true])
      let usage = try bench.reader.usage()
      #expect(usage.imageBytes == 0 && usage.articles == 3)
    }
  }

  @Test func `images can be switched off and on`() async throws {
    try await Bench.run { bench in
      try await bench.reader.change(OfflineSettings(keepsImages: false))
      bench.readeck.fill(2, images: 2)
      _ = try await bench.sync()
      #expect(bench.asked().images.isEmpty)
      try await bench.reader.change(OfflineSettings())
      #expect(try await bench.sync().images == 4)
      try await bench.reader.change(OfflineSettings(keepsImages: false))
      let usage = try bench.reader.usage()
      #expect(usage.articles == 2 && usage.images == 0)
    }
  }

  @Test func `an image that is not there is not asked for again; one that may come back is`()
    async throws
  {
    try await Bench.run { bench in
      bench.readeck.fill(2, images: 2)
      let (gone, later) = ("/img/\(FakeReadeck.id(0))-0", "/img/\(FakeReadeck.id(1))-1")
      bench.readeck.set(.init(status: 404), at: gone)
      bench.readeck.set(.init(status: 503), at: later)
      let result = try await bench.sync()
      #expect(result.outcome == .done && result.images == 2)
      let asked = bench.asked().images
      #expect(asked.filter { $0 == later }.count == 3, "tried again twice")
      #expect(asked.filter { $0 == gone }.count == 1)
      bench.readeck.set(.init(), at: gone)
      bench.readeck.set(.init(), at: later)
      #expect(try await bench.sync().images == 1)
      #expect(bench.asked().images == [later])
    }
  }

  @Test func `an article whose image is on a host without a network is complete later`()
    async throws
  {
    try await Bench.run { bench in
      bench.readeck.fill(1, images: 1)
      bench.wire.fail(after: 2, with: .notConnectedToInternet)
      let first = try await bench.sync()
      #expect(first.outcome == .done && first.images == 0)
      bench.wire.heal()
      #expect(try await bench.sync().images == 1)
    }
  }

  @Test func `settings have their bounds, and those of before a field was thought of still load`()
    throws
  {
    func loaded(_ json: String) throws -> OfflineSettings {
      let store = try Store.temporary(clock: ManualClock())
      let settings = store.namespace("articles.settings")
      try settings.set(Array(json.utf8), for: "offline", codec: .json)
      let reader = try Bench.reader(in: store, at: "http://127.0.0.1:1", over: Wire())
      return try reader.settings()
    }
    #expect(try loaded("{}") == OfflineSettings())
    #expect(
      try loaded(#"{"articles":40,"isOn":false}"#) == OfflineSettings(isOn: false, articles: 40))
    #expect(
      try loaded(#"{"articles":30,"keepsImages":false,"imageMegabytes":1200,"fonts":"later"}"#)
        == OfflineSettings(articles: 30, keepsImages: false, imageMegabytes: 1_200))
    let wild = try loaded(#"{"articles":1000,"imageMegabytes":3}"#)
    #expect(wild.articles == 100 && wild.imageMegabytes == 50)
    var settings = OfflineSettings(articles: -7, imageMegabytes: 5_000)
    #expect(settings.articles == 0 && settings.imageMegabytes == 1_200)
    settings.articles = 26
    #expect(settings.articles == 30)
    #expect(OfflineSettings.articleChoices == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100])
  }

  @Test func `eight writers of 25 and their readers lose nothing`() async throws {
    try await Bench.run { bench in
      bench.readeck.fill(100)
      try await bench.reader.change(OfflineSettings(articles: 100))
      let pages = bench.readeck.pages
      // Each article is asked for by two.
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<8 {
          group.addTask {
            for number in 0..<25 {
              let page = pages[(writer / 2) * 25 + number]
              let article = try await bench.reader.article(id: page.id)
              #expect(article.html == page.html && article.isKept)
              #expect(try bench.reader.hasCachedArticle(page.id))
              _ = try bench.reader.stored()
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try bench.reader.stored().count == 100)
      let records = bench.store.namespace("records")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<8 {
          group.addTask {
            for number in 0..<25 {
              try await records.set("\(writer) \(number)", for: "\(writer)/\(number)")
              #expect(try records.contains("\(writer)/\(number)"))
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try records.count() == 200)
    }
  }
}
