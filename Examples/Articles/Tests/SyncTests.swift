import Articles
import ExampleTesting
import Foundation
import Larder
import Testing

/// What a sync fetches, in how many requests, and what it says.
@Suite struct SyncTests {
  @Test func `twenty articles are 21 requests, and one more where nothing is new`() async throws {
    try await Bench.run { bench in
      bench.readeck.fill(25)
      let first = try await bench.sync()
      #expect(first.outcome == .done)
      #expect(first.text == "20 of 20 articles: done")
      let asked = bench.asked()
      #expect(asked.lists == 1 && asked.images.isEmpty)
      #expect(asked.bodies == (5..<25).reversed().map(FakeReadeck.id), "the newest, newest first")

      let second = try await bench.sync()
      #expect(second.outcome == .nothingNew && second.skipped == 20)
      #expect(bench.server.count == 1)
      #expect(bench.server.received[0].parameter("limit") == "20")
      #expect(bench.server.received[0].parameter("read_status") == "unread")
    }
  }

  @Test func `with 100 images they are 121`() async throws {
    try await Bench.run { bench in
      bench.readeck.fill(20, images: 5)
      let result = try await bench.sync()
      #expect(result.outcome == .done && result.images == 100)
      let asked = bench.asked()
      #expect(asked.lists == 1 && asked.bodies.count == 20 && Set(asked.images).count == 100)
      #expect(asked.images.count == 100)
      _ = try await bench.sync()
      #expect(bench.server.count == 1)
      let usage = try bench.reader.usage()
      #expect(usage.articles == 20 && usage.images == 100 && usage.imageBytes == 500)
      #expect(usage.htmlBytes == bench.readeck.pages.reduce(0) { $0 + $1.html.utf8.count })
      #expect(usage.text.hasSuffix("kB of HTML and 500 B of images"))
    }
  }

  @Test func `how far it is can be watched by many, and a second sync joins the first`()
    async throws
  {
    try await Bench.run { bench in
      bench.readeck.fill(20)
      let gate = Gate()
      bench.server.become { [readeck = bench.readeck] request in
        await gate.pass()
        return readeck.answer(request)
      }
      let run = try bench.reader.sync()
      let other = try bench.reader.sync()
      #expect(run === other)
      let watching = Task {
        var steps: [SyncProgress] = []
        for await step in other { steps.append(step) }
        return steps
      }
      gate.open()
      #expect(await run.result() == other.result())
      let steps = await watching.value
      #expect(steps.last?.done == 20 && steps.last?.total == 20 && steps.last?.stored == 20)
      #expect(steps.map(\.done) == steps.map(\.done).sorted())
      #expect(bench.server.count == 21)
      var late: [SyncProgress] = []
      for await step in run { late.append(step) }
      #expect(late.map(\.done) == [20], "who comes late hears of the end")
      #expect(try bench.reader.sync() !== run)
      _ = try await bench.sync()
    }
  }

  @Test func `it goes on past articles that fail, and asks for those alone the next time`()
    async throws
  {
    try await Bench.run { bench in
      bench.readeck.fill(20)
      for number in [3, 11] { bench.readeck.change(FakeReadeck.id(number)) { $0.status = 500 } }
      let first = try await bench.sync()
      #expect(first.outcome == .partial && first.text == "18 of 20 articles: partial")
      #expect(first.reason == "Article 11: the service answered 500: no reason given")
      #expect(try bench.reader.usage().lastSync == bench.clock.now)
      _ = bench.asked()

      for number in [3, 11] { bench.readeck.change(FakeReadeck.id(number)) { $0.status = 200 } }
      let second = try await bench.sync()
      #expect(second.outcome == .done && second.stored == 2 && second.skipped == 18)
      #expect(bench.asked().bodies == [FakeReadeck.id(11), FakeReadeck.id(3)])
    }
  }

  @Test(arguments: 0...21)
  func `it stops where the network is lost, and goes on from there`(count: Int) async throws {
    try await Bench.run { bench in
      bench.readeck.fill(20)
      bench.wire.fail(after: count, with: .networkConnectionLost)
      let first = try await bench.sync()
      #expect(bench.server.count == min(count, 21))
      #expect(first.outcome == (count < 2 ? .failed : count < 21 ? .partial : .done))
      #expect(first.present == max(0, count - 1))
      #expect(try bench.reader.usage().lastSync == (count < 2 ? nil : bench.clock.now))
      _ = bench.asked()
      bench.wire.heal()
      let second = try await bench.sync()
      #expect(second.present == 20 && second.failed == 0)
      #expect(bench.asked().bodies.count == 20 - first.present)
    }
  }

  @Test func `when everything fails, the last sync stays what it was`() async throws {
    try await Bench.run { bench in
      bench.readeck.fill(3)
      _ = try await bench.sync()
      let before = bench.clock.now
      bench.clock.advance(by: .hours(5))
      bench.readeck.fill(3, from: 3)
      for number in 3..<6 { bench.readeck.change(FakeReadeck.id(number)) { $0.status = 404 } }
      // Those that are there already are no success of this one.
      let failed = try await bench.sync()
      #expect(failed.outcome == .failed && failed.failed == 3 && failed.present == 3)
      bench.readeck.set(500)
      #expect(try await bench.sync().outcome == .failed)
      #expect(try bench.reader.usage().lastSync == before)
      bench.readeck.set(200)
      bench.readeck.pages = Array(bench.readeck.pages.dropFirst(3))
      #expect(try await bench.sync().outcome == .nothingNew)
      #expect(try bench.reader.usage().lastSync == bench.clock.now)
    }
  }

  @Test func `who is not known to the server is told so after one request`() async throws {
    try await Bench.run(token: "another") { bench in
      bench.readeck.fill(3)
      let result = try await bench.sync()
      #expect(
        result.outcome == .failed && result.reason == "the service answered 401: Unauthorized")
      #expect(bench.server.count == 1)
      await #expect(throws: (any Error).self) { try await bench.reader.unread() }
    }
  }

  @Test func `it stops when there is no room on the disk`() async throws {
    try await Bench.run { bench in
      bench.readeck.fill(20)
      // Nothing may leave, and the store is full: what a disk does.
      try await bench.reader.change(OfflineSettings(articles: 30))
      try bench.store.override(Rules.Overrides(eviction: .refuse), for: "articles")
      try bench.store.declare(StoreLimits(bytes: bench.store.statistics().bytes + 300))
      let result = try await bench.sync()
      #expect(result.outcome == .partial && result.isStopped)
      #expect((1..<20).contains(result.stored))
      #expect(bench.asked().bodies.count == result.stored + 1)
    }
  }

  @Test func `an automatic sync is due after more than four hours`() async throws {
    try await Bench.run { bench in
      bench.readeck.fill(1)
      func isDue() async throws -> Bool {
        let run = try bench.reader.syncIfDue()
        _ = await run?.result()
        return run != nil
      }
      #expect(try await isDue(), "never synced")
      #expect(try await !isDue())
      bench.clock.advance(by: .hours(4))
      #expect(try await !isDue(), "exactly four hours")
      bench.clock.advance(by: .milliseconds(1))
      #expect(try await isDue())
      bench.clock.set(to: bench.clock.now.advanced(by: .hours(-48)))
      #expect(try await !isDue(), "a last sync in the future")
      try await bench.reader.change(OfflineSettings(isOn: false))
      bench.clock.advance(by: .days(9))
      #expect(try await !isDue(), "switched off")
      #expect(throws: ArticlesError.off) { try bench.reader.sync() }
    }
  }

  @Test func `a sync that is ended keeps what it has`() async throws {
    try await Bench.run { bench in
      bench.readeck.fill(20)
      let gate = Gate()
      bench.server.become { [server = bench.server, readeck = bench.readeck] request in
        if server.count == 6 { await gate.pass() }
        return readeck.answer(request)
      }
      let run = try bench.reader.sync()
      while bench.server.count < 6 { await Task.yield() }
      run.cancel()
      let result = await run.result()
      gate.open()
      #expect(result.outcome == .partial && result.stored == 4)
      #expect(try await bench.sync().stored == 16)
    }
  }
}
