import ExampleTesting

@testable import Articles

/// The articles that a sync fetches, the number and speed of its requests, and its result.
@Suite(.fixture(Fixture.self)) struct SyncTests {
  private let fixture = Fixture.current
  private var reader: ArticleReader { fixture.reader }
  private var readeck: FakeReadeck { fixture.readeck }

  @Test func `the program of the page stores articles and changes one`() async throws {
    readeck.fill(3, images: 1)
    let found = try await Programs.all[0].run(fixture)
    #expect(await (found["run"] as? SyncRun)?.result().stored == 3)
    #expect(found["report"] as? OutboxReport == OutboxReport(sent: 1))
    #expect(try await reader.unread().bookmarks.count == 2)
  }

  /// Twenty articles need 21 requests; with 100 images they need 121 requests.
  @Test(arguments: [(20, 0), (20, 5), (100, 0)])
  func `a sync requests the list, and the newest articles and their images`(
    count: Int, images: Int
  ) async throws {
    try await reader.change(.test(articles: count))
    readeck.fill(count + 5, images: images)
    let first = try await fixture.sync()
    #expect(first.outcome == .done && first.text == "\(count) of \(count) articles: done")
    #expect(fixture.server.count == 1 + count + count * images)
    let asked = fixture.asked()
    #expect(asked.lists == 1 && first.images == count * images)
    #expect(Set(asked.images).count == count * images)
    #expect(asked.bodies == Array((5..<count + 5).reversed()), "the newest, newest first")
    let second = try await fixture.sync()
    #expect(second.outcome == .nothingNew && second.skipped == count)
    #expect(fixture.server.count == 1)
    #expect(fixture.server.received[0].parameter("limit") == "\(count)")
    let usage = try reader.usage()
    #expect(usage.articles == count && usage.images == count * images)
    #expect(usage.imageBytes == 5 * count * images)
    let html = readeck.pages.prefix(count).reduce(0) { $0 + $1.html.utf8.count }
    #expect(usage.htmlBytes == html && usage.text.hasPrefix("\(count) articles, "))
  }

  @Test func `a second sync joins the first`() async throws {
    let joined = Lines<SyncRun>()
    fixture.during("/api/bookmarks") { [reader] in joined.add(try reader.sync()) }
    readeck.fill(20)
    let run = try reader.sync()
    var steps: [SyncRun.Step] = []
    for await step in run.steps { steps.append(step) }
    let other = try #require(joined.all.first)
    #expect(run.task == other.task)
    #expect(await run.result().text == other.result().text)
    #expect(steps.map { $0.done } == Array(0...20) && steps.allSatisfy { $0.total == 20 })
    #expect(fixture.server.count == 21)
    #expect(try reader.sync().task != run.task)
  }

  @Test func `articles that fail are fetched by the next sync`() async throws {
    readeck.fill(20)
    fixture.answer(FakeReadeck.body(3)) { $0 = .init(500, text: "<h1>Error</h1>") }
    // The service answers the list and eight articles. After that, the request for article 11 loses its connection.
    fixture.network.plan =
      [FaultyTransport.Fault](repeating: .pass, count: 9)
      + [.fail(URLError(.networkConnectionLost))]
    let first = try await fixture.sync()
    #expect(first.outcome == .partial && first.text == "18 of 20 articles: partial")
    #expect(first.failures.count == 2 && first.error == nil)
    #expect(first.failures[0].hasPrefix("Article 11: the service cannot be reached: "))
    #expect(first.failures[1] == "Article 3: the service answered 500: no reason given")
    #expect(try reader.usage().lastSync == fixture.clock.now)
    _ = fixture.asked()
    fixture.answerAll()
    let second = try await fixture.sync()
    #expect(second.outcome == .done && second.stored == 2 && second.skipped == 18)
    #expect(fixture.asked().bodies == [11, 3])
  }

  @Test(arguments: 0...11)
  func `a sync that lost the network goes on from there`(count: Int) async throws {
    readeck.fill(10)
    fixture.network.fail(with: .networkConnectionLost, after: count)
    let first = try await fixture.sync()
    #expect(fixture.server.count == min(count, 11))
    #expect(first.outcome == (count < 2 ? .failed : count < 11 ? .partial : .done))
    #expect(first.kept == max(0, count - 1))
    #expect(try reader.usage().lastSync == (count < 2 ? nil : fixture.clock.now))
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
    readeck.fill(3, from: 3)
    fixture.answer(with: .init(404)) { $0.bare.hasSuffix("/article") }
    let failed = try await fixture.sync()
    #expect(failed.outcome == .failed && failed.failed == 3 && failed.kept == 3)
    fixture.network.plan = [.status(500)]
    #expect(try await fixture.sync().outcome == .failed)
    #expect(try reader.usage().lastSync == before)
    for number in 3..<6 { readeck.remove(number) }
    #expect(try await fixture.sync().outcome == .nothingNew)
    #expect(try reader.usage().lastSync == fixture.clock.now)
  }

  @Test func `an automatic sync is due after more than four hours`() async throws {
    readeck.fill(1)
    func isDue() async throws -> Bool {
      let run = try reader.syncIfDue()
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
    try await reader.change(.test(isOn: false))
    fixture.clock.advance(by: .days(9))
    #expect(try await !isDue(), "switched off")
    #expect(throws: ArticlesError.off) { try reader.sync() }
  }

  @Test func `after the clock was set back, a sync finds edits and removals`() async throws {
    try await fixture.sync(new: 2)
    fixture.clock.set(to: fixture.clock.now.advanced(by: .hours(-48)))
    readeck.change(0) { ($0.updated, $0.html, $0.entityTag) = ("2026-01-01T00:00:00Z", "new", "1") }
    readeck.remove(1)
    let result = try await fixture.sync()
    #expect(result.stored == 1 && result.removed == 1, "\(result)")
  }

  enum Ending: CaseIterable { case cancel, signOut, signOutElsewhere, off, lowerLimit }

  @Test(arguments: Ending.allCases)
  func `a sync that is ended meanwhile stores no more`(ending: Ending) async throws {
    try await reader.change(.test(articles: 30))
    readeck.fill(30, images: 1)
    fixture.during(FakeReadeck.body(14)) { [fixture] in
      #expect(try fixture.stored() == Array((15..<30).reversed()))
      switch ending {
      case .cancel: try fixture.reader.sync().cancel()
      case .signOut: try await fixture.reader.signOut()
      case .signOutElsewhere: try await fixture.another().signOut()
      case .off: try await fixture.reader.change(.test(isOn: false))
      case .lowerLimit: try await fixture.reader.change(.test(articles: 10))
      }
    }
    let result = try await fixture.sync()
    let kept = ending == .cancel ? 15 : ending == .lowerLimit ? 10 : 0
    #expect(result.kept == kept && result.error != nil, "\(result)")
    #expect(fixture.asked().bodies.count == 16)
    #expect(try fixture.stored() == Array((30 - kept..<30).reversed()))
    let usage = try reader.usage()
    #expect(usage.images == kept && (usage.lastSync == nil) == (kept == 0))
    if ending == .off { try await reader.change(.test(articles: 30)) }
    #expect(try await fixture.sync().stored == (ending == .lowerLimit ? 0 : 30 - kept))
  }

  /// `DiskLimitTests` of Larder show that a store on a full disk refuses a value with the same error.
  @Test(arguments: [StoreLimits(entries: 17), StoreLimits(bytes: 160_000)])
  func `a store without room keeps the newest, and the sync says so`(limit: StoreLimits)
    async throws
  {
    readeck.fill(20)
    let text = String(repeating: "x", count: 10_000)
    for number in 0..<20 { readeck.change(number) { $0.html = text } }
    try fixture.store.declare(limit)
    let first = try await fixture.sync()
    let kept = try fixture.stored().count
    #expect(first.kept == kept && (1..<20).contains(kept))
    #expect((first.error as? LarderError)?.code == .full)
    #expect(fixture.asked().bodies.count == kept + 1)
    #expect(try fixture.stored() == Array((20 - kept..<20).reversed()))
    #expect(try await fixture.sync().kept == kept && fixture.asked().bodies.count == 1)
    readeck.fill(1, from: 20)
    #expect(try await fixture.sync().stored == 1)
    #expect(try fixture.stored().first == 20)
  }

  @Test func `an article that can never fit fails alone`() async throws {
    try await fixture.sync(new: 5)
    try fixture.store.override(Rules.Overrides(largestValue: 1_000_000), for: fixture.articles.name)
    readeck.fill(2, from: 5)
    readeck.change(6) { $0.html = String(repeating: "x", count: 2_000_000) }
    let result = try await fixture.sync()
    #expect(result.failed == 1 && result.stored == 1 && result.kept == 6, "\(result)")
  }

  @Test(arguments: [(401, true), (403, true), (401, false), (403, false), (429, false)])
  func `a refusal of one article ends no sync, one of the list does, and so does a wait`(
    status: Int, isOfAll: Bool
  ) async throws {
    readeck.fill(4)
    let isReached = Atomic(false)
    fixture.answer(with: .init(status, ["Retry-After": "600"])) { request in
      let isArticle = request.bare == FakeReadeck.body(2)
      if isArticle { isReached.store(true, ordering: .relaxed) }
      return isArticle || isOfAll && isReached.load(ordering: .relaxed)
    }
    let result = try await fixture.sync()
    let isEnded = isOfAll || status == 429
    #expect((result.error != nil) == isEnded, "\(result)")
    #expect(result.kept == (isEnded ? 1 : 3) && result.failed == (isEnded ? 0 : 1))
    #expect(fixture.asked().bodies.count == (isEnded ? 2 : 4))
  }

  @Test func `a sync has all that are not archived, also half-read ones, and removes others`()
    async throws
  {
    readeck.fill(4, images: 1)
    readeck.change(3) { $0.progress = 50 }
    // The list has an article twice, because another article has moved while the service made the list.
    readeck.pages += [readeck.pages[0]]
    #expect(try await fixture.sync().stored == 4)
    readeck.change(0) { $0.isArchived = true }
    readeck.remove(1)
    // If the length of the list is unknown, or an element cannot be decoded, the list may be incomplete. So nothing is removed.
    fixture.answer("/api/bookmarks") { $0.fields["Total-Count"] = nil }
    #expect(try await fixture.sync().removed == 0)
    fixture.answer("/api/bookmarks") { answer in
      answer.body = Data(("[{}," + String(decoding: answer.body, as: UTF8.self).dropFirst()).utf8)
    }
    let unreadable = try await fixture.sync()
    #expect(unreadable.removed == 0 && unreadable.unreadable.count == 1)
    fixture.answerAll()
    let result = try await fixture.sync()
    #expect(result.removed == 2 && result.outcome == .nothingNew && result.total == 2)
    #expect(try fixture.stored() == [3, 2] && reader.usage().images == 2)
  }

  /// Sends requests over the network. Records the priorities of their tasks, and how many images are requested at the same time.
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

  /// An automatic sync has background priority, a manual sync utility priority. All images have background priority.
  @Test(arguments: [true, false])
  func `priorities of syncs and images, of which four are fetched at a time`(isAutomatic: Bool)
    async throws
  {
    readeck.fill(2, images: 9)
    let gate = Gate()
    fixture.server.become { [readeck] request in
      if request.bare.hasPrefix("/img") { await gate.pass() }
      return readeck.answer(request)
    }
    let network = Priorities()
    let reader = Fixture.reader(in: fixture.store, at: fixture.server.base, over: network)
    let begun = try isAutomatic ? reader.syncIfDue() : reader.sync()
    let run = try #require(begun)
    try await waitUntil { network.sent.all.count >= 6 }
    // The gate holds four images, so no further request may come.
    try await Task.sleep(for: .milliseconds(100))
    #expect(network.sent.all.count == 6, "a list, an article and four images")
    gate.open()
    // A wait for the result raises the priority of the sync's task. An iteration over the steps does not, so it comes first.
    for await _ in run.steps {}
    #expect(await run.result().images == 18)
    for (path, priority) in network.sent.all {
      let isLow = isAutomatic || path.hasPrefix("/img")
      #expect(priority == (isLow ? .background : .utility), "\(path)")
    }
  }
}
