import ExampleTesting

@testable import Articles

/// Failures of the service that concern one article, or everything; and how often it is asked.
@Suite(.fixture(Fixture.self)) struct ServiceFailureTests {
  private let fixture = Fixture.current

  enum Fault: CaseIterable {
    case broken, throttled, portal, page404, json404, empty, unauthorized, forbidden

    var answer: LocalServer.Answer {
      switch self {
      case .broken: .init(500)
      case .throttled: .init(429, ["Retry-After": "7200"])
      case .portal: .init(200, ["Content-Type": "text/html"], text: "<html>Please log in</html>")
      case .page404: .init(404, ["Content-Type": "text/html"], text: "<html>Not here</html>")
      case .json404: .init(404, text: #"{"message":"Not Found"}"#)
      case .empty: .init(200, ["Content-Type": "text/html"], text: "")
      case .unauthorized: .init(401)
      case .forbidden: FakeReadeck.refusal(403)
      }
    }

    var isRefusal: Bool { [.unauthorized, .forbidden].contains(self) }
  }

  /// Of an article that was stored and then edited.
  private func edited() async throws -> String {
    try await fixture.sync(new: 1)
    let id = FakeReadeck.id(0)
    fixture.readeck.change(id) {
      ($0.updated, $0.entityTag, $0.html) = ("2026-01-01T00:00:00Z", "1", "new")
    }
    _ = try await fixture.reader.unread()
    return id
  }

  @Test(arguments: Fault.allCases, [true, false])
  func `the stored version of an edited article is opened under any failure`(
    fault: Fault, ofBodyOnly: Bool
  ) async throws {
    let id = try await edited()
    fixture.server.become { [readeck = fixture.readeck] request in
      ofBodyOnly && !request.path.hasSuffix("/article") ? readeck.answer(request) : fault.answer
    }
    let old = try await fixture.reader.article(id: id)
    #expect(old.isOutdated && old.isKept && old.html.hasPrefix("<section>0"))
    #expect(old.reason != nil && old.isRefused == fault.isRefusal, "\(old)")
    await #expect(throws: ServiceError.self) { try await fixture.reader.article(id: "other") }
    fixture.server.become { [readeck = fixture.readeck] in readeck.answer($0) }
    #expect(try await fixture.reader.article(id: id).html == "new")
  }

  @Test func `the program says why it shows the stored version`() async throws {
    fixture.readeck.fill(1)
    let account = "--server \(fixture.server.base)/api --token \(FakeReadeck.token)"
    let program = try TestedProgram("larder-articles", store: "store")
    let sync = "sync \(account) | 1 of 1 articles"
    try await program.check(sync)
    fixture.readeck.change(FakeReadeck.id(0)) { $0.updated = "2026-01-01T00:00:00Z" }
    let list = "list --online \(account) | edited"
    try await program.check(list)
    for (status, code) in [(500, 0), (401, 5)] {
      fixture.server.become { _ in .init(status) }
      let show =
        "show \(FakeReadeck.id(0)) \(account) = \(code) | ^<section>0 | ! be fetched now: the service answered \(status)"
      try await program.check(show)
    }
  }

  enum Trouble: CaseIterable {
    case unauthorized, forbidden, deadHost

    var answer: LocalServer.Answer {
      switch self {
      case .unauthorized: .init(401)
      case .forbidden: .init(403)
      case .deadHost: .init(302, ["Location": "http://127.0.0.1:1/x"])
      }
    }
  }

  @Test(arguments: Trouble.allCases, [true, false])
  func `a refusal of one article ends no sync, one of the list does`(
    trouble: Trouble, isOfAll: Bool
  ) async throws {
    fixture.readeck.fill(4)
    let path = Fixture.body(2)
    let isReached = Atomic(false)
    fixture.server.become { [readeck = fixture.readeck] request in
      if request.bare == path { isReached.store(true, ordering: .relaxed) }
      return request.bare == path || isOfAll && isReached.load(ordering: .relaxed)
        ? trouble.answer : readeck.answer(request)
    }
    let result = try await fixture.sync()
    #expect(result.isStopped == isOfAll, "\(result)")
    #expect(result.kept == (isOfAll ? 1 : 3) && result.failed == (isOfAll ? 0 : 1))
    #expect(result.isRefused == (isOfAll && trouble != .deadHost))
  }

  @Test func `an image whose address is too long for a key is left out`() async throws {
    fixture.readeck.fill(2)
    fixture.readeck.change(FakeReadeck.id(1)) {
      $0.html = "<img src='/img/\(String(repeating: "a", count: 70_000))'>"
    }
    #expect(try await fixture.sync().outcome == .done)
    #expect(try await fixture.sync().outcome == .nothingNew)
  }

  @Test(arguments: [true, false])
  func `those who open an article at once ask for it once`(isEdited: Bool) async throws {
    let id = isEdited ? try await edited() : FakeReadeck.id(0)
    if !isEdited { fixture.readeck.fill(1) }
    fixture.server.forget()
    let readers = (0..<6).map { _ in fixture.another() }
    let gate = fixture.hold { $0.bare == "/api/bookmarks/\(id)" }
    let opening = readers.map { reader in Task { try await reader.article(id: id) } }
    try await fixture.asked(for: "/api/bookmarks/\(id)")
    gate.open()
    for task in opening {
      let article = try await task.value
      #expect(article.isKept && !article.isOutdated)
    }
    #expect(fixture.server.received.map(\.bare) == ["/api/bookmarks/\(id)", Fixture.body(0)])
  }

  enum Paging: CaseIterable { case total, link, stuck }

  @Test(arguments: Paging.allCases)
  func `a list that comes in parts is read to its end`(paging: Paging) async throws {
    try await fixture.sync(new: 8)
    fixture.readeck.change(FakeReadeck.id(0)) { $0.isArchived = true }
    fixture.server.forget()
    fixture.server.become { [readeck = fixture.readeck] request in
      guard request.bare == "/api/bookmarks" else { return readeck.answer(request) }
      let offset = paging == .stuck ? 0 : Int(request.parameter("offset") ?? "") ?? 0
      let pages = readeck.pages.filter { !$0.isArchived }.map(FakeReadeck.bookmark)
      let next = offset + 3 < pages.count ? ["Link": "<\(request.path)>; rel=\"next\""] : [:]
      return .init(
        200, paging == .link ? next : ["Total-Count": "\(pages.count)"],
        json: Array(pages.dropFirst(offset).prefix(3)))
    }
    let result = try await fixture.sync()
    let offsets = fixture.server.received.compactMap { $0.parameter("offset") }
    if paging == .stuck {
      #expect(result.total == 3 && result.removed == 0 && result.outcome == .nothingNew)
      #expect(result.reason == "the service lists 3 articles and says it has more")
      #expect(offsets == ["0", "3"])
    } else {
      #expect(result.total == 7 && result.removed == 1 && result.reason == nil, "\(result)")
      #expect(offsets == ["0", "3", "6"])
    }
  }
}
