import ExampleTesting

@testable import Articles

/// Changes of the user, and changes of the same articles by others.
@Suite(.fixture(Fixture.self)) struct ConflictTests {
  private let fixture = Fixture.current

  @Test func `a later change at the service wins, and the user is told`() async throws {
    try await fixture.sync(new: 2)
    fixture.network.fail()
    _ = try await fixture.reader.edit(FakeReadeck.id(0), .archive)
    _ = try await fixture.reader.edit(FakeReadeck.id(1), .mark)
    fixture.network.recover()
    fixture.readeck.change(FakeReadeck.id(0)) { $0.updated = "2026-12-31T00:00:00Z" }
    let report = try await fixture.reader.sendEdits()
    #expect(report.sent == 1 && report.conflicts.count == 1 && report.left == 0)
    #expect(report.conflicts.first?.hasPrefix("archive \"Article 0\": the service has") == true)
    #expect(fixture.page(0)?.isArchived == false && fixture.page(1)?.isMarked == true)
    try await fixture.sync()
    #expect(try fixture.reader.stored().count == 2, "the article is back")
  }

  /// Both clocks differ by so many seconds, and others change the article so many seconds after the user.
  @Test(arguments: [-600, 0, 600], [-60, 60])
  func `which change is later is told by the service's clock`(ahead: Int, later: Int) async throws {
    try await fixture.sync(new: 1)
    fixture.readeck.set(ahead: .seconds(ahead))
    fixture.network.fail()
    _ = try await fixture.reader.edit(FakeReadeck.id(0), .mark)
    let made = fixture.clock.now.advanced(by: .seconds(ahead + later))
    fixture.readeck.change(FakeReadeck.id(0)) { $0.updated = "\(made)" }
    fixture.network.recover()
    fixture.clock.advance(by: .minutes(2))
    let report = try await fixture.reader.sendEdits()
    #expect(report.sent == (later < 0 ? 1 : 0) && report.left == 0, "\(report)")
    #expect(report.conflicts.count == (later < 0 ? 0 : 1))
    #expect(fixture.page(0)?.isMarked == (later < 0))
  }

  @Test func `a 404 of a proxy while the service is down loses no change`() async throws {
    try await fixture.sync(new: 3)
    fixture.network.fail()
    for (number, kind) in [PendingEdit.Kind.archive, .mark, .delete].enumerated() {
      _ = try await fixture.reader.edit(FakeReadeck.id(number), kind)
    }
    fixture.network.recover()
    let pages = fixture.readeck.pages
    fixture.readeck.pages = []
    fixture.readeck.set(404)
    let waiting = try await fixture.reader.sendEdits()
    #expect(waiting.left == 3 && waiting.sent == 0 && waiting.conflicts.isEmpty, "\(waiting)")
    fixture.readeck.set(200)
    fixture.readeck.pages = pages
    #expect(try await fixture.reader.sendEdits().sent == 3)
  }

  @Test(arguments: [true, false])
  func `without a date any change of others wins`(isChanged: Bool) async throws {
    try await fixture.sync(new: 1)
    fixture.readeck.set(ahead: nil)
    fixture.network.fail()
    _ = try await fixture.reader.edit(FakeReadeck.id(0), .mark)
    if isChanged {
      fixture.readeck.change(FakeReadeck.id(0)) { $0.updated = "2025-05-01T00:00:00Z" }
    }
    fixture.network.recover()
    let report = try await fixture.reader.sendEdits()
    #expect(report.conflicts.count == (isChanged ? 1 : 0) && report.sent == (isChanged ? 0 : 1))
  }

  @Test func `a change of others between two of the user is seen`() async throws {
    try await fixture.sync(new: 1)
    let id = FakeReadeck.id(0)
    fixture.network.fail()
    for kind in [PendingEdit.Kind.mark, .archive] { _ = try await fixture.reader.edit(id, kind) }
    fixture.network.recover()
    fixture.server.become { [readeck = fixture.readeck] request in
      let answer = readeck.answer(request)
      if request.method == "PATCH" { readeck.change(id) { $0.updated = "2028-01-01T00:00:00Z" } }
      return answer
    }
    let report = try await fixture.reader.sendEdits()
    #expect(report.sent == 1 && report.conflicts.count == 1, "\(report)")
    #expect(fixture.page(0)?.isArchived == false && fixture.page(0)?.isMarked == true)
  }

  /// The service's time of the first change is later than the second change. An answer 204 does not have it.
  @Test(arguments: [PendingEdit.Kind.archive, .delete], [200, 204])
  func `the user's own change is no later one of others`(second: PendingEdit.Kind, status: Int)
    async throws
  {
    try await fixture.sync(new: 1)
    fixture.server.become { [readeck = fixture.readeck] request in
      let answer = readeck.answer(request)
      return status == 204 && request.method == "PATCH" ? .init(204) : answer
    }
    for kind in [.mark, second] {
      #expect(try await fixture.reader.edit(FakeReadeck.id(0), kind) == OutboxReport(sent: 1))
    }
    #expect(fixture.page(0)?.isArchived ?? true)
  }

  @Test(arguments: ["2028-01-01T00:00:00.123456789Z", "1830297600123", "2028-01-01 00:00:00 UTC"])
  func `two forms of one time are no change by others`(form: String) async throws {
    try await fixture.sync(new: 1)
    let id = FakeReadeck.id(0)
    fixture.network.fail()
    for kind in [PendingEdit.Kind.mark, .read] { _ = try await fixture.reader.edit(id, kind) }
    fixture.network.recover()
    fixture.server.become { [readeck = fixture.readeck] request in
      let answer = readeck.answer(request)
      guard request.method == "PATCH" else { return answer }
      readeck.change(id) { $0.updated = "2028-01-01T00:00:00.123456+00:00" }
      return .init(json: ["id": id, "updated": form])
    }
    #expect(try await fixture.reader.sendEdits() == OutboxReport(sent: 2))
    #expect(fixture.page(0)?.isMarked == true && fixture.page(0)?.progress == 100)
  }

  @Test func `a service whose clock is ahead loses no change`() async throws {
    fixture.readeck.fill(1)
    fixture.readeck.change(FakeReadeck.id(0)) { $0.updated = "2030-01-01T00:00:00Z" }
    try await fixture.sync()
    #expect(try await fixture.reader.edit(FakeReadeck.id(0), .mark) == OutboxReport(sent: 1))
    #expect(fixture.page(0)?.isMarked == true)
  }
}
