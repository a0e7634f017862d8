import Articles
import ExampleTesting
import Foundation
import Larder
import Testing

/// Settings that change while something is under way.
@Suite struct ChangingTests {
  @Test func `a lower limit ends the sync, and another goes on with that`() async throws {
    try await Bench.run { bench in
      try await bench.reader.change(OfflineSettings(articles: 30))
      bench.readeck.fill(30)
      let gate = bench.hold { $0.bare == Bench.body(14) }
      let run = try bench.reader.sync()
      await bench.asked(for: Bench.body(14))
      bench.server.forget()
      try await bench.reader.change(OfflineSettings(articles: 10))
      #expect(run.isFinished)
      gate.open()
      let result = await run.result()
      #expect(result.outcome == .partial && result.stored == 15 && result.reason == "it was ended")
      let next = try bench.reader.sync()
      #expect(next !== run)
      #expect(await next.result().outcome == .nothingNew)
      #expect(try bench.reader.stored().ids == (20..<30).reversed().map(FakeReadeck.id))
      #expect(bench.server.received.map { $0.parameter("limit") }.contains("10"))
      #expect(bench.asked().bodies.isEmpty)
    }
  }

  @Test func `a higher limit is obeyed by the sync that goes on`() async throws {
    try await Bench.run { bench in
      try await bench.reader.change(OfflineSettings(articles: 10))
      bench.readeck.fill(30, images: 1)
      let gate = bench.hold { $0.bare == Bench.body(25) }
      _ = try bench.reader.sync()
      await bench.asked(for: Bench.body(25))
      try await bench.reader.change(OfflineSettings(articles: 20, keepsImages: false))
      gate.open()
      await bench.reader.finish()
      let usage = try bench.reader.usage()
      #expect(usage.articles == 20 && usage.images == 0)
    }
  }

  @Test func `switching off ends the sync for good, and its mark does not return`() async throws {
    try await Bench.run { bench in
      bench.readeck.fill(20, images: 1)
      let gate = bench.hold { $0.bare == Bench.body(12) }
      let run = try bench.reader.sync()
      await bench.asked(for: Bench.body(12))
      try await bench.reader.change(OfflineSettings(isOn: false))
      gate.open()
      #expect(await run.result().stored == 7)
      await bench.reader.finish()
      let usage = try bench.reader.usage()
      #expect(usage.articles == 0 && usage.images == 0 && usage.lastSync == nil)
      #expect(bench.asked().bodies.count == 8)
      // Who switches it on again has never synced.
      try await bench.reader.change(OfflineSettings())
      bench.server.become { [readeck = bench.readeck] in readeck.answer($0) }
      #expect(try await bench.reader.syncIfDue()?.result().stored == 20)
    }
  }

  @Test func `an article that is being opened obeys the settings as they are when it comes`()
    async throws
  {
    try await Bench.run { bench in
      bench.readeck.fill(1)
      let gate = bench.hold { $0.bare == Bench.body(0) }
      let opening = Task { try await bench.reader.article(id: FakeReadeck.id(0)) }
      await bench.asked(for: Bench.body(0))
      try await bench.reader.change(OfflineSettings(articles: 0))
      gate.open()
      let article = try await opening.value
      #expect(!article.isKept && article.html.contains("<section>0"))
      #expect(try bench.reader.usage().articles == 0)
    }
  }

  @Test func `images of an article that was opened come after all, if there are to be any`()
    async throws
  {
    try await Bench.run { bench in
      bench.readeck.fill(1, images: 6)
      let gate = bench.hold { $0.bare.hasPrefix("/img") }
      _ = try await bench.reader.article(id: FakeReadeck.id(0))
      await bench.asked(for: "/img/\(FakeReadeck.id(0))-3")
      try await bench.reader.change(OfflineSettings(articles: 30))
      gate.open()
      await bench.reader.finish()
      #expect(try bench.images(of: 0) == 6)
    }
  }

  @Test func `images that are on their way when they are switched off do not come back`()
    async throws
  {
    try await Bench.run { bench in
      bench.readeck.fill(1, images: 6)
      let gate = bench.hold { $0.bare.hasPrefix("/img") }
      _ = try await bench.reader.article(id: FakeReadeck.id(0))
      await bench.asked(for: "/img/\(FakeReadeck.id(0))-3")
      try await bench.reader.change(OfflineSettings(keepsImages: false))
      gate.open()
      await bench.reader.finish()
      let usage = try bench.reader.usage()
      #expect(usage.articles == 1 && usage.images == 0)
    }
  }
}
