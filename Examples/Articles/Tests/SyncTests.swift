import ExampleTesting

@testable import Articles

/// The articles that a sync fetches, the number and the pace of its requests, and its result.
@Suite(.fixture(Fixture.self)) struct SyncTests {
  private let fixture = Fixture.current

  @Test func `the program of the page stores articles and changes one`() async throws {
    fixture.readeck.fill(3, images: 1)
    let found = try await Programs.all[0].run(
      Programs(
        store: fixture.store, token: FakeReadeck.token,
        transport: LocalTransport(to: fixture.server, over: URLSessionTransport())))
    #expect(await (found["run"] as? SyncRun)?.result().stored == 3)
    #expect(found["report"] as? OutboxReport == OutboxReport(sent: 1))
    #expect(try await fixture.reader.unread().bookmarks.count == 2)
  }

  @Test(arguments: [0, 5])
  func `twenty articles are 21 requests, with 100 images 121`(images: Int) async throws {
    fixture.readeck.fill(25, images: images)
    let first = try await fixture.sync()
    #expect(first.outcome == .done && first.text == "20 of 20 articles: done")
    let asked = fixture.asked()
    #expect(asked.lists == 1 && first.images == 20 * images)
    #expect(asked.images.count == 20 * images && Set(asked.images).count == 20 * images)
    #expect(asked.bodies == (5..<25).reversed().map(FakeReadeck.id), "the newest, newest first")
    let second = try await fixture.sync()
    #expect(second.outcome == .nothingNew && second.skipped == 20)
    #expect(fixture.server.count == 1)
    #expect(fixture.server.received[0].parameter("limit") == "20")
    #expect(fixture.server.received[0].parameter("is_archived") == "false")
    let usage = try fixture.reader.usage()
    #expect(usage.articles == 20 && usage.images == 20 * images)
    #expect(usage.imageBytes == 100 * images)
    let html = fixture.readeck.pages.prefix(20).reduce(0) { $0 + $1.html.utf8.count }
    #expect(usage.htmlBytes == html && usage.text.hasPrefix("20 articles, "))
  }

  @Test func `a sync of 100 articles is timed`() async throws {
    fixture.readeck.fill(100)
    try await fixture.reader.change(.test(articles: 100))
    let start = ContinuousClock.now
    let result = try await fixture.sync()
    print("a sync of 100 articles: \(ContinuousClock.now - start)")
    #expect(result.text == "100 of 100 articles: done")
    #expect(fixture.server.count == 101)
  }

  @Test func `a second sync joins the first`() async throws {
    fixture.readeck.fill(20)
    let gate = fixture.hold { _ in true }
    let run = try fixture.reader.sync()
    let other = try fixture.reader.sync()
    #expect(run === other)
    let watching = Task {
      var steps: [SyncProgress] = []
      for await step in other { steps.append(step) }
      return steps
    }
    gate.open()
    #expect(await run.result() == other.result())
    let steps = await watching.value
    #expect(steps.last == SyncProgress(done: 20, total: 20))
    #expect(steps.map(\.done) == steps.map(\.done).sorted())
    #expect(fixture.server.count == 21)
    #expect(try fixture.reader.sync() !== run)
    try await fixture.sync()
  }

  @Test func `articles that fail are fetched by the next sync`() async throws {
    fixture.readeck.fill(20)
    fixture.readeck.change(FakeReadeck.id(3)) { $0.status = 500 }
    // After the list and eight articles, the request for article 11 loses its connection.
    fixture.network.plan =
      [FaultyTransport.Fault](repeating: .pass, count: 9)
      + [.fail(URLError(.networkConnectionLost))]
    let first = try await fixture.sync()
    #expect(first.outcome == .partial && first.text == "18 of 20 articles: partial")
    #expect(first.failures.count == 2 && !first.isStopped)
    #expect(first.failures[0].hasPrefix("Article 11: the service cannot be reached: "))
    #expect(first.failures[1] == "Article 3: the service answered 500: no reason given")
    #expect(try fixture.reader.usage().lastSync == "\(fixture.clock.now)")
    _ = fixture.asked()

    fixture.readeck.change(FakeReadeck.id(3)) { $0.status = 200 }
    let second = try await fixture.sync()
    #expect(second.outcome == .done && second.stored == 2 && second.skipped == 18)
    #expect(fixture.asked().bodies == [FakeReadeck.id(11), FakeReadeck.id(3)])
  }

  @Test(arguments: 0...11)
  func `a sync that lost the network goes on from there`(count: Int) async throws {
    fixture.readeck.fill(10)
    fixture.network.fail(with: .networkConnectionLost, after: count)
    let first = try await fixture.sync()
    #expect(fixture.server.count == min(count, 11))
    #expect(first.outcome == (count < 2 ? .failed : count < 11 ? .partial : .done))
    #expect(first.kept == max(0, count - 1))
    #expect(try fixture.reader.usage().lastSync == (count < 2 ? nil : "\(fixture.clock.now)"))
    _ = fixture.asked()
    fixture.network.recover()
    let second = try await fixture.sync()
    #expect(second.kept == 10 && second.failed == 0)
    #expect(fixture.asked().bodies.count == 10 - first.kept)
  }

  @Test func `a failed sync leaves the time of the last one`() async throws {
    try await fixture.sync(new: 3)
    let before = fixture.clock.now
    fixture.clock.advance(by: .hours(5))
    fixture.readeck.fill(3, from: 3)
    for number in 3..<6 { fixture.readeck.change(FakeReadeck.id(number)) { $0.status = 404 } }
    let failed = try await fixture.sync()
    #expect(failed.outcome == .failed && failed.failed == 3 && failed.kept == 3)
    fixture.readeck.set(500)
    #expect(try await fixture.sync().outcome == .failed)
    #expect(try fixture.reader.usage().lastSync == "\(before)")
    fixture.readeck.set(200)
    fixture.readeck.pages = Array(fixture.readeck.pages.dropFirst(3))
    #expect(try await fixture.sync().outcome == .nothingNew)
    #expect(try fixture.reader.usage().lastSync == "\(fixture.clock.now)")
  }

  @Test func `an automatic sync is due after more than four hours`() async throws {
    fixture.readeck.fill(1)
    func isDue() async throws -> Bool {
      let run = try fixture.reader.syncIfDue()
      _ = await run?.result()
      return run != nil
    }
    #expect(try await isDue(), "never synced")
    #expect(try await !isDue())
    fixture.clock.advance(by: .hours(4))
    #expect(try await !isDue(), "exactly four hours")
    fixture.clock.advance(by: .milliseconds(1))
    #expect(try await isDue())
    fixture.clock.set(to: fixture.clock.now.advanced(by: .hours(-48)))
    #expect(try await !isDue(), "a last sync in the future")
    try await fixture.reader.change(.test(isOn: false))
    fixture.clock.advance(by: .days(9))
    #expect(try await !isDue(), "switched off")
    #expect(throws: ArticlesError.off) { try fixture.reader.sync() }
  }

  @Test func `a sync that is ended keeps what it has`() async throws {
    fixture.readeck.fill(20)
    let gate = fixture.hold { $0.bare == Fixture.body(15) }
    let run = try fixture.reader.sync()
    try await fixture.asked(for: Fixture.body(15))
    run.cancel()
    let result = await run.result()
    gate.open()
    #expect(result.outcome == .partial && result.stored == 4)
    #expect(try await fixture.sync().stored == 16)
  }

  @Test func `unread are all that are not archived, also half-read ones`() async throws {
    fixture.readeck.fill(4)
    fixture.readeck.change(FakeReadeck.id(0)) { $0.progress = 50 }
    fixture.readeck.change(FakeReadeck.id(1)) { $0.isArchived = true }
    let result = try await fixture.sync()
    #expect(result.total == 3)
    #expect(try fixture.reader.stored().ids == [3, 2, 0].map(FakeReadeck.id))
  }

  @Test(arguments: ["entries", "bytes", "disk"])
  func `a store without room keeps the newest, and the sync says so`(limit: String) async throws {
    try await fixture.reader.change(.test(articles: 60, keepsImages: false))
    fixture.readeck.fill(60)
    let text = String(repeating: "x", count: 10_000)
    for number in 0..<60 { fixture.readeck.change(FakeReadeck.id(number)) { $0.html = text } }
    switch limit {
    case "entries": try fixture.store.declare(StoreLimits(entries: 17))
    case "bytes": try fixture.store.declare(StoreLimits(bytes: 160_000))
    default:
      try fixture.store.declare(StoreLimits(disk: 4_000_000))
      try fixture.store.declare(Rules(eviction: .refuse), for: "others")
      await #expect(throws: LarderError.self) {
        for number in 0..<1_000 {
          let bytes = [UInt8](repeating: 1, count: 50_000)
          try await fixture.store.namespace("others").set(bytes, for: "\(number)")
        }
      }
    }
    let first = try await fixture.sync()
    let kept = try fixture.reader.stored().count
    #expect(first.kept == kept && kept < 20 && first.isStopped && first.reason != nil)
    #expect(fixture.asked().bodies.count == kept + 1)
    #expect(try fixture.reader.stored().ids == fixture.readeck.pages.prefix(kept).map(\.id))
    #expect(try await fixture.sync().kept == kept && fixture.asked().bodies.count == 1)
    if kept == 0 { return }
    // A newer article replaces the oldest article.
    fixture.readeck.fill(1, from: 60)
    #expect(try await fixture.sync().stored == 1)
    #expect(try fixture.reader.stored().ids.first == FakeReadeck.id(60))
  }

  @Test func `an article that can never fit fails alone`() async throws {
    try await fixture.sync(new: 5)
    try fixture.store.override(Rules.Overrides(largestValue: 1_000_000), for: fixture.articles.name)
    fixture.readeck.fill(2, from: 5)
    let text = String(repeating: "x", count: 2_000_000)
    fixture.readeck.change(FakeReadeck.id(6)) { $0.html = text }
    let result = try await fixture.sync()
    #expect(result.failed == 1 && result.stored == 1 && result.kept == 6, "\(result)")
  }

  @Test(arguments: [401, 403], [true, false])
  func `a refusal of one article ends no sync, one of the list does`(status: Int, isOfAll: Bool)
    async throws
  {
    fixture.readeck.fill(4)
    let path = Fixture.body(2)
    let isReached = Atomic(false)
    let trouble = LocalServer.Answer(status)
    fixture.server.become { [readeck = fixture.readeck] request in
      if request.bare == path { isReached.store(true, ordering: .relaxed) }
      return request.bare == path || isOfAll && isReached.load(ordering: .relaxed)
        ? trouble : readeck.answer(request)
    }
    let result = try await fixture.sync()
    #expect(result.isStopped == isOfAll, "\(result)")
    #expect(result.kept == (isOfAll ? 1 : 3) && result.failed == (isOfAll ? 0 : 1))
    #expect(result.isRefused == isOfAll)
  }

  @Test func `a sync removes what the service does not list any more`() async throws {
    try await fixture.sync(new: 4, images: 1)
    fixture.readeck.change(FakeReadeck.id(0)) { $0.isArchived = true }
    fixture.readeck.pages.removeAll { $0.id == FakeReadeck.id(1) }
    // A list without its length, or a list that cannot be read whole, removes nothing.
    fixture.readeck.set(countsArticles: false)
    #expect(try await fixture.sync().removed == 0)
    fixture.readeck.set(countsArticles: true)
    fixture.answer("/api/bookmarks") { answer in
      answer.body = Data(("[{}," + String(decoding: answer.body, as: UTF8.self).dropFirst()).utf8)
    }
    let unreadable = try await fixture.sync()
    #expect(unreadable.removed == 0 && unreadable.unreadable.count == 1)
    fixture.answerAll()
    let result = try await fixture.sync()
    #expect(result.removed == 2 && result.outcome == .nothingNew && result.total == 2)
    #expect(try fixture.reader.stored().ids == [3, 2].map(FakeReadeck.id))
    #expect(try fixture.reader.usage().images == 2)
  }

  @Test func `four images of an article are fetched at a time`() async throws {
    fixture.readeck.fill(2, images: 9)
    func images() -> Int { fixture.server.received.count { $0.bare.hasPrefix("/img") } }
    let gate = fixture.hold { $0.bare.hasPrefix("/img") }
    let run = try fixture.reader.sync()
    try await waitUntil { images() >= 4 }
    // No further requests come while these four are held.
    try await Task.sleep(for: .milliseconds(100))
    #expect(images() == 4)
    gate.open()
    #expect(await run.result().images == 18)
  }

  /// Sends requests over the network, and notes the priorities of their tasks.
  private struct Priorities: HTTPTransport {
    let sent = Lines<(path: String, priority: TaskPriority)>()
    let session = URLSessionTransport()

    func send(
      _ request: HTTPRequest, body: HTTPBody,
      interim: @escaping @Sendable (HTTPResponse) async -> Void
    ) async throws -> (HTTPResponse, HTTPBody) {
      sent.add((request.path ?? "/", Task.currentPriority))
      return try await session.send(request, body: body, interim: interim)
    }
  }

  /// An automatic sync has background priority, and a manual sync utility priority; all images have background priority.
  @Test(arguments: [true, false])
  func `priorities of syncs and images`(isAutomatic: Bool) async throws {
    fixture.readeck.fill(3, images: 2)
    let network = Priorities()
    let reader = Fixture.reader(in: fixture.store, at: fixture.server.base, over: network)
    let begun = try isAutomatic ? reader.syncIfDue() : reader.sync()
    let run = try #require(begun)
    // An iteration does not raise the priority, but a wait for the result does.
    for await _ in run {}
    #expect(network.sent.all.count == 10, "a list, 3 articles and 6 images")
    for (path, priority) in network.sent.all {
      let isLow = isAutomatic || path.hasPrefix("/img")
      #expect(priority == (isLow ? .background : .utility), "\(path)")
    }
  }

  @Test func `a server that asks to wait ends the sync`() async throws {
    fixture.readeck.fill(10)
    fixture.answer(Fixture.body(5)) { $0 = .init(429, ["Retry-After": "600"]) }
    let result = try await fixture.sync()
    #expect(result.outcome == .partial && result.isStopped && result.stored == 4)
    #expect(fixture.asked().bodies.count == 5)
  }
}
