import ExampleTesting

@testable import Articles

/// Changes by the user with a network, without a network, and at the same time as changes by others.
@Suite(.fixture(Fixture.self)) struct OutboxTests {
  private let fixture = Fixture.current
  private var reader: ArticleReader { fixture.reader }
  private var readeck: FakeReadeck { fixture.readeck }

  /// Makes changes without a network, so that they wait in the outbox.
  private func queue(_ kinds: [PendingEdit.Kind], of number: Int = 0) async throws {
    fixture.network.fail()
    for kind in kinds { _ = try await fixture.edit(number, kind) }
    fixture.network.recover()
  }

  private func prepare(_ number: Int, for kind: PendingEdit.Kind) {
    readeck.change(number) { page in
      (page.isArchived, page.isMarked) = (kind == .unarchive, kind == .unmark)
      page.progress = kind == .unread ? 100 : 50
    }
  }

  /// By the clock of the service, the first change arrives after the user's second change. Others have changed nothing.
  @Test func `changes are sent at once, and seen at once`() async throws {
    try await fixture.sync(new: 4)
    let changes: [(Int, PendingEdit.Kind)] = [
      (0, .mark), (1, .mark), (1, .archive), (2, .mark), (2, .delete), (3, .read),
    ]
    for (number, kind) in changes {
      #expect(try await fixture.edit(number, kind) == OutboxReport(sent: 1), "\(number) \(kind)")
    }
    #expect(readeck.page(0)?.isMarked == true && readeck.page(1)?.isArchived == true)
    #expect(readeck.page(2) == nil && readeck.page(3)?.progress == 100)
    for _ in 0..<2 {
      let stored = try reader.stored().map(\.bookmark)
      #expect(stored.map(\.isMarked) == [false, true] && stored.map(\.isRead) == [true, false])
      #expect(try fixture.stored() == [3, 0] && reader.pendingEdits().isEmpty)
      fixture.clock.advance(by: .seconds(1))
      try await fixture.sync()
    }
    #expect(try reader.usage().articles == 2)
  }

  @Test func `changes made offline wait in their order, and a sync sends them`() async throws {
    try await fixture.sync(new: 3)
    try await queue([.mark, .unmark, .mark], of: 1)
    try await queue([.archive])
    let pending = try fixture.another().pendingEdits()
    #expect(pending.map(\.kind) == [.mark, .unmark, .mark, .archive], "every process sees them")
    #expect(try fixture.stored() == [2, 1])
    #expect(try await reader.unread().bookmarks.map(\.isMarked) == [false, true])
    #expect(try await fixture.open(1).bookmark.isMarked)
    fixture.server.forget()
    #expect(try await fixture.sync().edits == OutboxReport(sent: 4))
    let sent = fixture.server.received.filter { $0.method == "PATCH" }.map(\.bare)
    #expect(sent == [1, 1, 1, 0].map(FakeReadeck.path))
    #expect(readeck.page(1)?.isMarked == true && readeck.page(0)?.isArchived == true)
  }

  @Test func `a change that has arrived, or of a deleted article, is not sent`() async throws {
    try await fixture.sync(new: 3)
    for (number, kind) in [PendingEdit.Kind.mark, .delete, .mark].enumerated() {
      try await queue([kind], of: number)
    }
    // The service already has the first two changes, as after a kill of the process that sent them. Article 2 is gone, too.
    readeck.change(0) { ($0.isMarked, $0.updated) = (true, "2026-12-31T00:00:00Z") }
    for number in 1...2 { readeck.remove(number) }
    fixture.server.forget()
    let conflict = "mark \"Article 2\": the article was deleted"
    #expect(try await reader.sendEdits() == OutboxReport(sent: 2, conflicts: [conflict]))
    #expect(fixture.server.received.allSatisfy { $0.method == "GET" })
    #expect(try fixture.stored() == [0])
  }

  @Test(arguments: PendingEdit.Kind.allCases)
  func `a change that arrives twice has the effect of one`(kind: PendingEdit.Kind) async throws {
    try await fixture.sync(new: 2)
    prepare(0, for: kind)
    // The network delivers each change twice. The second delivery must have no further effect.
    fixture.server.become { [readeck] request in
      if request.method != "GET" { _ = readeck.answer(request) }
      return readeck.answer(request)
    }
    // The service refuses the second deletion. The next request for the article shows that the first deletion has arrived.
    _ = try await fixture.edit(0, kind)
    #expect(try await reader.sendEdits().left == 0)
    let page = readeck.page(0)
    #expect((page == nil) == (kind == .delete))
    #expect(page?.isArchived ?? false == (kind == .archive))
    #expect(page?.isMarked ?? false == (kind == .mark))
    #expect(page?.progress ?? 50 == (kind == .read ? 100 : kind == .unread ? 0 : 50))
  }

  @Test(arguments: [
    ("GET", 200, "<html>Please log in</html>", "login page"),
    ("PATCH", 200, "<html>Please log in</html>", "does not have the change"),
    ("PATCH", 202, "{}", "does not have the change"), ("PATCH", 500, "", "answered 500"),
    ("PATCH", 404, #"{"message":"no"}"#, "answered 404"), ("PATCH", 404, "", "404 without"),
    ("PATCH", 405, "<html>", "405 without"), ("GET", 404, "<html>", "404 without"),
    ("PATCH", 401, "", "answered 401"), ("GET", 403, "", "answered 403"),
  ])
  func `a change without a usable answer waits, and holds up no other`(
    method: String, status: Int, body: String, reason: String
  ) async throws {
    try await fixture.sync(new: 2)
    fixture.answer(with: .init(status, text: body)) {
      $0.method == method && $0.bare == FakeReadeck.path(0)
    }
    let first = try await fixture.edit(0, .mark)
    #expect(first.sent == 0 && first.left == 1 && first.conflicts.isEmpty)
    #expect(first.reasons.first?.contains(reason) == true, "\(first)")
    #expect(try await fixture.edit(1, .mark).sent == 1)
    #expect(try await fixture.sync().outcome != .failed)
    #expect(try reader.stored().map(\.bookmark.isMarked) == [true, true])
    fixture.answerAll()
    _ = try await reader.sendEdits()
    #expect(readeck.page(0)?.isMarked == true && readeck.page(1)?.isMarked == true)
  }

  @Test(arguments: [#"{"message":"no"}"#, #"{"is_valid":false}"#], PendingEdit.Kind.allCases)
  func `the service's refusal of a change drops it, and undoes it here`(
    reason: String, kind: PendingEdit.Kind
  ) async throws {
    readeck.fill(1)
    prepare(0, for: kind)
    _ = try await fixture.open(0)
    let before = try reader.stored()
    fixture.answer(with: .init(409, json: reason)) { $0.method != "GET" }
    let report = try await fixture.edit(0, kind)
    #expect(report.conflicts.count == 1 && report.left == 0, "\(report)")
    #expect(try before.count == 1 && reader.stored() == before)
  }

  @Test func `a 404 of a proxy while the service is down loses no change`() async throws {
    try await fixture.sync(new: 3)
    for (number, kind) in [PendingEdit.Kind.archive, .mark, .delete].enumerated() {
      try await queue([kind], of: number)
    }
    fixture.answer(with: .init(404, json: #"{"message":"no"}"#)) { _ in true }
    let waiting = try await reader.sendEdits()
    #expect(waiting.left == 3 && waiting.sent == 0 && waiting.conflicts.isEmpty, "\(waiting)")
    fixture.answerAll()
    #expect(try await reader.sendEdits().sent == 3)
  }

  @Test func `senders at the same time send each change once, in its order`() async throws {
    try await fixture.sync(new: 1)
    try await queue([.archive, .unarchive, .mark])
    let sent = try await withThrowingTaskGroup(of: Int.self) { [fixture] group in
      for _ in 0..<8 { group.addTask { try await fixture.another().sendEdits().sent } }
      return try await group.reduce(0, +)
    }
    #expect(sent == 3 && fixture.server.received.count { $0.method == "PATCH" } == 3)
    #expect(readeck.page(0)?.isArchived == false && readeck.page(0)?.isMarked == true)
  }

  @Test func `a change that is sent during a sign-out does not come back`() async throws {
    try await fixture.sync(new: 1)
    fixture.during(FakeReadeck.path(0)) { [fixture] in try await fixture.another().signOut() }
    #expect(try await fixture.edit(0, .mark) == OutboxReport(sent: 1))
    #expect(try reader.outbox.count() == 0 && readeck.page(0)?.isMarked == true)
  }

  @Test func `a sign-out while a sync sends changes ends the sync`() async throws {
    try await fixture.sync(new: 2)
    try await queue([.mark])
    fixture.during(FakeReadeck.path(0)) { [fixture] in try await fixture.another().signOut() }
    #expect(try await fixture.sync().error as? ArticlesError == .ended)
    #expect(try fixture.stored() == [] && reader.usage().lastSync == nil)
  }

  @Test func `a change of a later version stays, and holds up no other`() async throws {
    readeck.fill(1)
    let later = #"{"number":1,"article":"a","title":"x","kind":"share","made":1,"base":""}"#
    try await reader.outbox.namespace.set(
      Array(later.utf8), for: "1000000000001", EntryAttributes(codec: .json))
    #expect(try await fixture.edit(0, .mark).sent == 1)
    #expect(try reader.outbox.count() == 2)
  }

  @Test func `a change of an article that nobody knows is an error, not queued`() async throws {
    try await fixture.sync(new: 2)
    await #expect(throws: ServiceError.self) { try await reader.edit("nosuch", .mark) }
    fixture.network.fail()
    await #expect(throws: ServiceError.self) { try await reader.edit("nosuch", .mark) }
    #expect(try reader.pendingEdits().isEmpty)
    // The archived article is no longer stored, but its title is known from the change.
    try await queue([.archive, .unarchive])
    #expect(try reader.pendingEdits().map(\.kind) == [.archive, .unarchive])
    readeck.fill(1, from: 2)
    #expect(try await fixture.edit(2, .mark).sent == 3)
  }

  /// The server's clock is `ahead` seconds ahead (nil: no date). The change by others is `later` seconds after the user's.
  @Test(arguments: [-600, 0, 600, nil], [-60, 60])
  func `a later change at the service wins by its clock, and the user is told`(
    ahead: Int?, later: Int
  ) async throws {
    try await fixture.sync(new: 2)
    fixture.answer(FakeReadeck.path(0)) { [clock = fixture.clock] in
      $0.fields["Date"] = ahead.map { HTTPDate(clock.now.advanced(by: .seconds($0))).text }
    }
    try await queue([.archive])
    try await queue([.mark], of: 1)
    let made = fixture.clock.now.advanced(by: .seconds((ahead ?? 0) + later))
    readeck.change(0) { $0.updated = "\(made)" }
    fixture.clock.advance(by: .minutes(2))
    let report = try await reader.sendEdits()
    // If an answer has no date, the HTTP cache uses the time of its arrival, as if both clocks were equal.
    let isSent = later < 0
    #expect(report.sent == (isSent ? 2 : 1) && report.left == 0)
    #expect(report.conflicts.count == (isSent ? 0 : 1))
    let told = report.conflicts.first?.hasPrefix("archive \"Article 0\": the service has")
    #expect(told == (isSent ? nil : true), "\(report)")
    #expect(readeck.page(0)?.isArchived == isSent && readeck.page(1)?.isMarked == true)
    #expect(try fixture.stored() == (isSent ? [1] : [1, 0]), "the article is back")
  }

  @Test func `a change of others between two of the user is seen`() async throws {
    try await fixture.sync(new: 1)
    try await queue([.mark, .archive])
    let looks = Atomic(0)
    fixture.server.become { [readeck] request in
      // The second request shows the user's first change. The change by others is made before the third request.
      if request.bare == FakeReadeck.path(0), request.method == "GET",
        looks.add(1, ordering: .relaxed).newValue == 3
      {
        readeck.change(0) { $0.updated = "2028-01-01T00:00:00Z" }
      }
      return readeck.answer(request)
    }
    let report = try await reader.sendEdits()
    #expect(report.sent == 1 && report.conflicts.count == 1, "\(report)")
    #expect(readeck.page(0)?.isArchived == false && readeck.page(0)?.isMarked == true)
  }

  @Test(arguments: [PendingEdit.Kind.archive, .delete, .mark], [0, 3])
  func `a change that another process sends during a sync stays`(
    kind: PendingEdit.Kind, number: Int
  ) async throws {
    readeck.fill(4)
    let other = fixture.another()
    fixture.during(FakeReadeck.body(number)) { [clock = fixture.clock] in
      clock.advance(by: .seconds(1))
      _ = try await other.edit(FakeReadeck.id(0), kind)
    }
    let result = try await fixture.sync()
    #expect(try reader.pendingEdits().isEmpty && result.outcome == .done, "\(result)")
    let last = try reader.stored().last
    let isKept = kind == .mark
    #expect((last?.bookmark.id == FakeReadeck.id(0)) == isKept)
    #expect(last?.bookmark.isMarked == isKept)
    #expect(result.total == (isKept ? 4 : 3) && result.kept == result.total)
  }
}
