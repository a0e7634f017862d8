import ExampleTesting

@testable import Articles

/// Changes that the user makes, with a network and without.
@Suite(.fixture(Fixture.self)) struct OutboxTests {
  private let fixture = Fixture.current

  @Test func `changes are sent at once, and seen at once`() async throws {
    try await fixture.sync(new: 4)
    for (number, kind) in [(0, PendingEdit.Kind.mark), (1, .archive), (2, .delete), (3, .read)] {
      let report = try await fixture.reader.edit(FakeReadeck.id(number), kind)
      #expect(report == OutboxReport(sent: 1))
    }
    #expect(fixture.page(0)?.isMarked == true && fixture.page(1)?.isArchived == true)
    #expect(fixture.page(2) == nil && fixture.page(3)?.progress == 100)
    let stored = try fixture.reader.stored()
    #expect(stored.ids == [3, 0].map(FakeReadeck.id) && stored[1].bookmark.isMarked)
    #expect(stored[0].bookmark.isRead && !stored[1].bookmark.isRead)
    #expect(try fixture.reader.pendingEdits().isEmpty)
  }

  @Test func `changes made offline wait in their order, and a sync sends them`() async throws {
    try await fixture.sync(new: 3)
    fixture.network.fail()
    let id = FakeReadeck.id(1)
    for kind in [PendingEdit.Kind.mark, .unmark, .mark] {
      _ = try await fixture.reader.edit(id, kind)
    }
    #expect(try await fixture.reader.edit(FakeReadeck.id(0), .archive).left == 4)
    #expect(try fixture.reader.pendingEdits().map(\.kind) == [.mark, .unmark, .mark, .archive])
    #expect(try fixture.reader.usage().pendingEdits == 4)
    #expect(try fixture.reader.stored().ids == [2, 1].map(FakeReadeck.id))
    // They are user data: no limit evicts them.
    try fixture.store.declare(StoreLimits(disk: 4_000_000))
    for number in 0..<200 {
      try await fixture.store.namespace("others").set(
        [UInt8](repeating: 1, count: 50_000), for: "\(number)")
    }
    fixture.network.recover()
    let result = try await fixture.sync()
    #expect(result.edits == OutboxReport(sent: 4))
    #expect(fixture.page(1)?.isMarked == true && fixture.page(0)?.isArchived == true)
    #expect(try fixture.reader.pendingEdits().isEmpty)
  }

  @Test(arguments: [
    ("GET", 200, "<html>Please log in</html>"), ("PATCH", 200, "<html>Please log in</html>"),
    ("PATCH", 200, ""), ("PATCH", 200, "OK"), ("PATCH", 200, "[]"), ("PATCH", 202, "{}"),
    ("PATCH", 200, "{}"),
  ])
  func `a change without a usable answer waits, and holds up no other`(
    method: String, status: Int, body: String
  ) async throws {
    try await fixture.sync(new: 2)
    let path = "/api/bookmarks/\(FakeReadeck.id(0))"
    fixture.answer(with: .init(status, text: body)) { $0.method == method && $0.bare == path }
    let first = try await fixture.reader.edit(FakeReadeck.id(0), .mark)
    let reason = body.hasPrefix("<") ? "login page" : "not say that the change was made (\(status))"
    #expect(first.sent == 0 && first.left == 1 && first.reasons.first?.contains(reason) == true)
    #expect(try await fixture.reader.edit(FakeReadeck.id(1), .mark).sent == 1)
    let result = try await fixture.sync()
    #expect(result.outcome == .done && result.edits.left == 1, "\(result)")
    fixture.answerAll()
    #expect(try await fixture.reader.sendEdits() == OutboxReport(sent: 1))
    #expect(fixture.page(0)?.isMarked == true && fixture.page(1)?.isMarked == true)
  }

  @Test func `a change that has arrived is not sent again`() async throws {
    try await fixture.sync(new: 2)
    fixture.network.fail()
    _ = try await fixture.reader.edit(FakeReadeck.id(0), .mark)
    _ = try await fixture.reader.edit(FakeReadeck.id(1), .delete)
    fixture.network.recover()
    // As if the process had been killed after the requests.
    fixture.readeck.change(FakeReadeck.id(0)) {
      ($0.isMarked, $0.updated) = (true, "2026-12-31T00:00:00Z")
    }
    fixture.readeck.pages.removeAll { $0.id == FakeReadeck.id(1) }
    fixture.server.forget()
    #expect(try await fixture.reader.sendEdits() == OutboxReport(sent: 2))
    #expect(fixture.server.received.allSatisfy { $0.method == "GET" })
  }

  /// Sends each change a second time, as a network may; the answer is that to the second one.
  private struct Doubling: HTTPTransport {
    let network: Network

    func send(
      _ request: HTTPRequest, body: HTTPBody,
      interim: @escaping @Sendable (HTTPResponse) async -> Void
    ) async throws -> (HTTPResponse, HTTPBody) {
      let bytes = try await body.bytes()
      if request.method != .get {
        _ = try await network.send(request, body: HTTPBody(bytes), interim: interim)
      }
      return try await network.send(request, body: HTTPBody(bytes), interim: interim)
    }
  }

  @Test(arguments: PendingEdit.Kind.allCases)
  func `a change that arrives twice has the effect of one`(kind: PendingEdit.Kind) async throws {
    try await fixture.sync(new: 2)
    let (id, next) = (FakeReadeck.id(0), FakeReadeck.id(1))
    fixture.readeck.change(id) { page in
      page.isArchived = kind == .unarchive
      page.isMarked = kind == .unmark
      page.progress = kind == .unread ? 100 : 50
    }
    let reader = Fixture.reader(
      in: fixture.store, at: fixture.server.base, over: Doubling(network: fixture.network))
    fixture.server.forget()
    #expect(try await reader.edit(id, kind) == OutboxReport(sent: 1))
    #expect(fixture.server.received.count { $0.method != "GET" } == 2)
    let changed = fixture.page(0).map { FakeReadeck.bookmark($0) }
    switch kind.field {
    case (let name, let value)?:
      let json = try JSONSerialization.data(withJSONObject: #require(changed))
      #expect(try JSONDecoder().decode(JSON.self, from: json)[name] == value)
    case nil: #expect(changed == nil)
    }
    // The queue goes on behind it.
    #expect(try await reader.edit(next, .mark) == OutboxReport(sent: 1))
    #expect(fixture.page(1)?.isMarked == true && fixture.page(1)?.isArchived == false)
    #expect(try reader.pendingEdits().isEmpty)
  }

  /// An answer to requests of one article: those that change it, or the one before them.
  struct Refusal: Sendable {
    var status: Int
    var body = ""
    var isBefore = false
    /// Whether the change is dropped.
    var isFinal = false
    /// Whether the user is refused.
    var isUser = false
    /// Whether it is not the service's.
    var isForeign = false
  }

  /// Bodies that the service does not send with this status: those of proxies, firewalls and login pages.
  private static func foreign(_ status: Int) -> [String] {
    [
      "", "<html><h1>Blocked</h1></html>", #"{"message": "no"}"#, #"{"status": \#(status)}"#,
      #"{"status": "error", "message": "no"}"#, #"{"status": 499, "message": "no"}"#,
    ]
  }
  private static func json(_ status: Int) -> String {
    #"{"status": \#(status), "message": "no"}"#
  }
  static let foreign = [400, 403, 404, 405, 409].flatMap { status in
    [true, false].flatMap { isBefore in
      foreign(status).map {
        Refusal(status: status, body: $0, isBefore: isBefore, isForeign: true)
      }
    }
  }
  static let refusals = [
    Refusal(status: 408), Refusal(status: 500), Refusal(status: 301),
    Refusal(status: 404, body: json(404)), Refusal(status: 401, isUser: true),
    Refusal(status: 403, body: json(403), isUser: true),
    Refusal(status: 403, body: json(403), isBefore: true, isUser: true),
    Refusal(status: 401, isBefore: true, isUser: true),
    Refusal(status: 409, body: json(409), isFinal: true),
    Refusal(status: 400, body: #"{"is_valid": false, "fields": {}}"#, isFinal: true),
  ]

  @Test(arguments: refusals + foreign, [PendingEdit.Kind.mark, .delete])
  func `only the service's refusal of the change itself drops it, and the others are sent`(
    refusal: Refusal, kind: PendingEdit.Kind
  ) async throws {
    try await fixture.sync(new: 2)
    let (id, waits) = (FakeReadeck.id(0), !refusal.isFinal)
    fixture.answer(with: .init(refusal.status, text: refusal.body)) {
      ($0.method == "GET") == refusal.isBefore && $0.bare == "/api/bookmarks/\(id)"
    }
    let report = try await fixture.reader.edit(id, kind)
    #expect(report.sent == 0 && report.left == (waits ? 1 : 0), "\(report)")
    #expect(report.conflicts.count == (waits ? 0 : 1) && report.isRefused == refusal.isUser)
    #expect(report.reasons.count == (waits ? 1 : 0))
    #expect(!refusal.isForeign || report.reasons.first?.contains("service answered") == false)
    let next = try await fixture.reader.edit(FakeReadeck.id(1), .mark)
    #expect(next.sent == (refusal.status == 401 ? 0 : 1))
    // A dropped change is undone here, too.
    try await fixture.sync()
    let stored = try fixture.reader.stored().first { $0.bookmark.id == id }
    #expect(stored?.bookmark.isMarked == (waits ? kind == .mark ? true : nil : false))
    #expect(try await fixture.reader.dropEdits(of: id) == (waits ? 1 : 0))
  }

  @Test func `senders at the same time send each change once, in its order`() async throws {
    try await fixture.sync(new: 1)
    fixture.network.fail()
    let id = FakeReadeck.id(0)
    for kind in [PendingEdit.Kind.archive, .unarchive, .mark] {
      _ = try await fixture.reader.edit(id, kind)
    }
    fixture.network.recover()
    let sent = try await withThrowingTaskGroup(of: Int.self) { [fixture] group in
      for _ in 0..<8 {
        group.addTask {
          try await Fixture.reader(
            in: fixture.store, at: fixture.server.base, over: fixture.network
          ).sendEdits().sent
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(sent == 3 && fixture.server.received.count { $0.method == "PATCH" } == 3)
    #expect(fixture.page(0)?.isArchived == false && fixture.page(0)?.isMarked == true)
  }

  @Test func `only who has the lock sends, and others wait for it ten seconds`() async throws {
    try await fixture.sync(new: 3)
    fixture.network.fail()
    for number in 0..<3 { _ = try await fixture.reader.edit(FakeReadeck.id(number), .mark) }
    fixture.network.recover()
    let (store, name, other) = (
      fixture.store, fixture.reader.storage.outbox.name, fixture.another(token: "other")
    )
    do {
      // As by a process that was stopped; and the other user has nothing to send.
      let locks = try [name, other.storage.outbox.name].map { try StoreLock(of: store, named: $0) }
      let report = try await fixture.reader.sendEdits()
      #expect(report.sent == 0 && report.left == 3 && report.reasons == [Outbox.busy])
      #expect(fixture.waits.all.reduce(.zero, +) == .seconds(10))
      #expect(try await other.sendEdits() == OutboxReport() && locks.count == 2)
    }
    let unlocked = Lines<String>()
    fixture.server.become { [readeck = fixture.readeck] request in
      if (try? StoreLock(of: store, named: name)) != nil { unlocked.add(request.path) }
      return readeck.answer(request)
    }
    #expect(try await fixture.reader.sendEdits().sent == 3 && unlocked.all == [])
  }

  @Test func `a change of an article that nobody knows is an error, not queued`() async throws {
    try await fixture.sync(new: 2)
    let error = await #expect(throws: ArticlesError.self) {
      try await fixture.reader.edit("nosuch", .mark)
    }
    #expect(error?.description.hasPrefix("the article nosuch is not stored, and ") == true)
    fixture.network.fail()
    let failure = await #expect(throws: ServiceError.self) {
      try await fixture.reader.edit("nosuch", .mark)
    }
    #expect(failure?.isOffline == true, "the service may have it")
    #expect(try fixture.reader.pendingEdits().isEmpty)
    #expect(fixture.server.received.allSatisfy { $0.method == "GET" })
    // One that was archived here is known by that.
    for kind in [PendingEdit.Kind.archive, .unarchive] {
      _ = try await fixture.reader.edit(FakeReadeck.id(0), kind)
    }
    #expect(try fixture.reader.pendingEdits().map(\.kind) == [.archive, .unarchive])
    // So is one that only the service has.
    fixture.network.recover()
    fixture.readeck.fill(1, from: 2)
    #expect(try await fixture.reader.edit(FakeReadeck.id(2), .mark).sent == 3)
  }

  @Test func `a sync leaves what waits to be sent as the user has it`() async throws {
    try await fixture.sync(new: 3)
    fixture.answer(with: .init(503)) { $0.method != "GET" }
    for (number, kind) in [(0, PendingEdit.Kind.delete), (1, .archive), (2, .mark)] {
      _ = try await fixture.reader.edit(FakeReadeck.id(number), kind)
    }
    fixture.readeck.change(FakeReadeck.id(2)) { $0.updated = "2025-05-01T00:00:00Z" }
    let result = try await fixture.sync()
    #expect(result.outcome == .done && result.edits.left == 3, "\(result)")
    let stored = try fixture.reader.stored()
    #expect(stored.ids == [FakeReadeck.id(2)] && stored[0].bookmark.isMarked)
  }

  @Test func `a change of a later version waits, and holds up no other`() async throws {
    fixture.readeck.fill(1)
    try await fixture.reader.storage.outbox.namespace.set(
      #"{"article":"a","title":"x","kind":"share","made":1}"#, for: "000000000000000001")
    let report = try await fixture.reader.edit(FakeReadeck.id(0), .mark)
    #expect(report.sent == 1 && report.left == 1 && report.reasons.count == 1, "\(report)")
    #expect(try await fixture.sync().outcome == .done)
  }
}
