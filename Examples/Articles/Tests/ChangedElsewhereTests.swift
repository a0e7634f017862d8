import ExampleTesting

@testable import Articles

/// Articles that are archived, marked or deleted on another device, or by another process during a sync.
@Suite(.fixture(Fixture.self)) struct ChangedElsewhereTests {
  private let fixture = Fixture.current

  @Test func `a list that does not say its length removes nothing`() async throws {
    try await fixture.sync(new: 3)
    fixture.readeck.pages.removeLast()
    fixture.readeck.set(countsArticles: false)
    try await fixture.sync()
    #expect(try fixture.reader.stored().count == 3)
    fixture.answer("/api/bookmarks") { answer in
      (answer.fields["Total-Count"], answer.body) = ("-1", Data("[]".utf8))
    }
    #expect(try await fixture.sync().removed == 0)
    fixture.answerAll()
    fixture.readeck.set(countsArticles: true)
    try await fixture.sync()
    #expect(try fixture.reader.stored().count == 2)
  }

  @Test func `a sync removes what the service lists no more`() async throws {
    try await fixture.reader.change(.test(articles: 10))
    try await fixture.sync(new: 4, images: 1)
    fixture.readeck.change(FakeReadeck.id(0)) { $0.isArchived = true }
    fixture.readeck.pages.removeAll { $0.id == FakeReadeck.id(1) }
    let result = try await fixture.sync()
    #expect(result.removed == 2 && result.outcome == .nothingNew && result.total == 2)
    #expect(try fixture.reader.stored().ids == [3, 2].map(FakeReadeck.id))
    #expect(try fixture.reader.usage().images == 2)
    // A full list says nothing about those that are older than its last.
    try await fixture.sync(new: 8, from: 4)
    fixture.readeck.change(FakeReadeck.id(6)) { $0.isArchived = true }
    fixture.readeck.fill(1, from: 12)
    let full = try await fixture.sync()
    #expect(full.removed == 1 && full.stored == 1, "\(full)")
    #expect(
      try fixture.reader.stored().ids == [12, 11, 10, 9, 8, 7, 5, 4, 3, 2].map(FakeReadeck.id))
  }

  @Test func `of articles that were added at the same time none is newer`() async throws {
    try await fixture.reader.change(.test(articles: 10))
    fixture.readeck.fill(30)
    for number in 0..<30 {
      fixture.readeck.change(FakeReadeck.id(number)) { $0.created = FakeReadeck.moment(0) }
    }
    try await fixture.sync()
    let ids = Set(try fixture.reader.stored().ids)
    #expect(ids == Set((20..<30).map(FakeReadeck.id)))
    for number in [0, 19] {
      #expect(try await !fixture.reader.article(id: FakeReadeck.id(number)).isKept)
    }
    let again = try await fixture.sync()
    #expect(again.outcome == .nothingNew && again.removed == 0, "\(again)")
    #expect(try Set(fixture.reader.stored().ids) == ids)
    // The service lists others of them first.
    fixture.readeck.pages = fixture.readeck.pages.reversed()
    #expect(try await fixture.sync().removed == 0)
  }

  @Test func `a list that is not whole removes nothing`() async throws {
    try await fixture.sync(new: 3)
    fixture.readeck.pages.removeAll { $0.id == FakeReadeck.id(1) }
    fixture.answer("/api/bookmarks") { answer in
      answer.body = Data(("[{}," + String(decoding: answer.body, as: UTF8.self).dropFirst()).utf8)
    }
    let result = try await fixture.sync()
    #expect(result.unreadable.count == 1 && result.removed == 0)
    #expect(try fixture.reader.stored().count == 3, "it may be the one that cannot be read")
  }

  @Test func `an article that is stored after the list was requested stays`() async throws {
    try await fixture.sync(new: 2)
    fixture.clock.advance(by: .hours(1))
    let other = fixture.another()
    let opened = Atomic(false)
    fixture.server.become { [readeck = fixture.readeck, clock = fixture.clock] request in
      let answer = readeck.answer(request)
      if request.bare == "/api/bookmarks", !opened.exchange(true, ordering: .relaxed) {
        clock.advance(by: .seconds(1))
        readeck.fill(1, from: 2)
        _ = try await other.article(id: FakeReadeck.id(2))
      }
      return answer
    }
    #expect(try await fixture.sync().removed == 0)
    #expect(try fixture.reader.stored().count == 3)
  }

  @Test func `an archived article that is opened stays archived`() async throws {
    try await fixture.sync(new: 2)
    let id = FakeReadeck.id(0)
    #expect(try await fixture.reader.edit(id, .archive).sent == 1)
    #expect(try await fixture.reader.article(id: id).isKept)
    #expect(try fixture.reader.stored().map(\.bookmark.isArchived) == [false, true])
    let result = try await fixture.sync()
    #expect(result.total == 1 && result.removed == 0)
    fixture.network.fail()
    #expect(try await fixture.reader.unread().bookmarks.map(\.id) == [FakeReadeck.id(1)])
    // It comes back as soon as the user says so, also while the service does not know it.
    #expect(try await fixture.reader.edit(id, .unarchive).left == 1)
    #expect(try await fixture.reader.unread().bookmarks.count == 2)
    fixture.network.recover()
    fixture.server.become { [readeck = fixture.readeck] request in
      request.method == "PATCH" ? .init(503) : readeck.answer(request)
    }
    #expect(try await fixture.sync().removed == 0)
    #expect(try fixture.reader.stored().map(\.bookmark.isArchived) == [false, false])
  }

  /// The article whose fetch is the moment of the change of article 0, and whether that was stored before.
  typealias Fetch = (number: Int, isStored: Bool)
  static let fetches: [Fetch] = [(3, false), (3, true), (0, false), (0, true)]

  @Test(arguments: [PendingEdit.Kind.archive, .delete, .mark], fetches)
  func `a change that another process sends during a sync stays`(
    kind: PendingEdit.Kind, fetch: Fetch
  ) async throws {
    fixture.readeck.fill(4)
    if fetch.isStored {
      try await fixture.sync()
      for number in 0..<4 {
        fixture.readeck.change(FakeReadeck.id(number)) {
          ($0.updated, $0.entityTag) = ("2026-01-01T00:00:00Z", "1")
        }
      }
    }
    let other = fixture.another()
    let edited = Atomic(false)
    fixture.server.become { [readeck = fixture.readeck, clock = fixture.clock] request in
      let answer = readeck.answer(request)
      if request.bare == Fixture.body(fetch.number), !edited.exchange(true, ordering: .relaxed) {
        clock.advance(by: .seconds(1))
        _ = try await other.edit(FakeReadeck.id(0), kind)
      }
      return answer
    }
    let result = try await fixture.sync()
    #expect(try fixture.reader.pendingEdits().isEmpty && result.outcome == .done, "\(result)")
    let last = try fixture.reader.stored().first { $0.bookmark.id == FakeReadeck.id(0) }
    if kind == .mark {
      #expect(last?.bookmark.isMarked == true && result.kept == 4)
    } else {
      #expect(last == nil && result.total == 3 && result.kept == 3)
    }
  }

  @Test func `a change of an article that was deleted elsewhere removes it here`() async throws {
    try await fixture.sync(new: 2)
    fixture.readeck.pages.removeAll { $0.id == FakeReadeck.id(0) }
    let report = try await fixture.reader.edit(FakeReadeck.id(0), .mark)
    #expect(report.conflicts.count == 1 && report.left == 0)
    #expect(try fixture.reader.stored().ids == [FakeReadeck.id(1)])
  }

  @Test func `a sync tells a dropped change and a failed article by its exit code`() async throws {
    fixture.readeck.fill(2)
    let account = "--server \(fixture.server.base)/api --token \(FakeReadeck.token)"
    let program = try TestedProgram("larder-articles", store: "store")
    fixture.server.become { [readeck = fixture.readeck] request in
      request.method == "PATCH" ? FakeReadeck.refusal(409) : readeck.answer(request)
    }
    let id = FakeReadeck.id(0)
    try await program.check(
      """
      sync \(account)                         | 2 of 2 articles
      edit mark \(id) --no-network \(account) | ^0 sent, 1 waiting
      sync \(account) = 5                     | 2 of 2 articles | ! not sent: mark
      edit archive \(id) --no-network \(account) | ^0 sent, 1 waiting
      """)
    fixture.server.become { [readeck = fixture.readeck] in readeck.answer($0) }
    fixture.readeck.fill(2, from: 2)
    fixture.readeck.change(FakeReadeck.id(2)) { $0.status = 500 }
    try await program.check(
      """
      sync \(account) = 4                     | 2 of 3 articles: partial | 1 change sent | ! failed: Article 2
      show \(id) \(account)                   | ^<section>0
      list \(account)                         | Article 0  (archived)_ | 3 articles
      list --json \(account)                  | "isArchived":true
      """)
    fixture.readeck.pages.removeAll { $0.id == FakeReadeck.id(1) }
    fixture.readeck.change(FakeReadeck.id(2)) { $0.status = 200 }
    let sync = "sync \(account) | 2 of 2 articles: done | 1 article removed: "
    try await program.check(sync)
  }

  @Test func `the changes that a sync sends are part of its progress`() async throws {
    try await fixture.sync(new: 2)
    fixture.network.fail()
    for number in 0..<2 { _ = try await fixture.reader.edit(FakeReadeck.id(number), .mark) }
    fixture.network.recover()
    var steps: [SyncProgress] = []
    for await step in try fixture.reader.sync() { steps.append(step) }
    #expect(
      steps.filter(\.isSending)
        == [1, 2].map { SyncProgress(isSending: true, done: $0, total: 2) }
    )
    #expect(steps.last?.isSending == false)
  }
}
