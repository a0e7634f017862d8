import ExampleTesting

@testable import Articles

/// A store or a disk without room.
@Suite(.fixture(Fixture.self)) struct FullStoreTests {
  private let fixture = Fixture.current

  enum Shortage: CaseIterable {
    /// The store's limit is reached, and nothing may leave.
    case limit
    /// So is the file's, which is what a full disk comes to: not even a note can be written.
    case disk
  }

  /// Leaves no room in the store for anything else.
  private func fill(_ store: Store, _ shortage: Shortage) throws {
    try store.fill()
    guard shortage == .disk else { return }
    try store.declare(StoreLimits(disk: 4_000_000))
    let others = store.namespace("others")
    // The second fills up to the last page.
    for size in [50_000, 0] {
      #expect(throws: LarderError.self) {
        for number in 0..<1_000_000 {
          try others.set([UInt8](repeating: 1, count: size), for: "\(size) \(number)")
        }
      }
    }
  }

  @Test(arguments: Shortage.allCases, [true, false])
  func `an article is opened and not kept`(shortage: Shortage, isFirst: Bool) async throws {
    fixture.readeck.fill(3, images: 1)
    if !isFirst {
      _ = try await fixture.reader.article(id: FakeReadeck.id(0))
      await fixture.reader.finish()
    }
    try fill(fixture.store, shortage)
    for _ in 0..<2 {
      let article = try await fixture.reader.article(id: FakeReadeck.id(1))
      #expect(!article.isKept && !article.isOutdated && article.html.contains("<section>1 "))
    }
    #expect(try fixture.reader.stored().count == (isFirst ? 0 : 1))
  }

  @Test(arguments: Shortage.allCases)
  func `an edited one is opened as it is now, and listed`(shortage: Shortage) async throws {
    try await fixture.sync(new: 20, images: 1)
    let id = FakeReadeck.id(19)
    fixture.readeck.change(id) {
      ($0.updated, $0.entityTag) = ("2026-01-01T00:00:00Z", "1")
      $0.html = "new" + String(repeating: "!", count: 100_000)
    }
    try fill(fixture.store, shortage)
    let list = try await fixture.reader.unread()
    #expect(list.bookmarks.count == 20 && !list.isOffline)
    let article = try await fixture.reader.article(list.bookmarks[0])
    #expect(article.html.hasPrefix("new!") && !article.isOutdated)
    // One that is kept already can be read as before.
    fixture.network.fail()
    #expect(try await fixture.reader.article(list.bookmarks[1]).isKept)
  }

  @Test(arguments: Shortage.allCases)
  func `another article is opened at the limit of articles`(shortage: Shortage) async throws {
    try await fixture.sync(new: 20)
    fixture.readeck.fill(1, from: 20)
    let text = String(repeating: "x", count: 500_000)
    fixture.readeck.change(FakeReadeck.id(20)) { $0.html = text }
    try fill(fixture.store, shortage)
    let article = try await fixture.reader.article(id: FakeReadeck.id(20))
    #expect(article.html == text)
  }

  @Test(arguments: Shortage.allCases, PendingEdit.Kind.allCases)
  func `a change is sent, though it cannot be queued`(shortage: Shortage, kind: PendingEdit.Kind)
    async throws
  {
    try await fixture.sync(new: 2)
    let id = FakeReadeck.id(0)
    if kind == .unarchive { fixture.readeck.change(id) { $0.isArchived = true } }
    if kind == .unmark { fixture.readeck.change(id) { $0.isMarked = true } }
    try fill(fixture.store, shortage)
    fixture.network.fail()
    await #expect(throws: LarderError.self, "it can neither be queued nor sent") {
      try await fixture.reader.edit(id, kind)
    }
    fixture.network.recover()
    #expect(try await fixture.reader.edit(id, kind) == OutboxReport(sent: 1))
    let page = fixture.page(0)
    #expect((page == nil) == (kind == .delete))
    #expect(page?.isArchived ?? true == [.archive, .delete].contains(kind))
    #expect(page?.isMarked ?? false == (kind == .mark))
    #expect(try fixture.reader.pendingEdits().isEmpty)
  }

  @Test(arguments: PendingEdit.Kind.allCases)
  func `a change that cannot be queued and is refused leaves the article as it is`(
    kind: PendingEdit.Kind
  ) async throws {
    fixture.readeck.fill(1)
    let id = FakeReadeck.id(0)
    fixture.readeck.change(id) { page in
      page.isMarked = kind == .unmark
      page.progress = kind == .unread ? 100 : 50
      // For it there is always something to send.
      page.isArchived = kind == .unarchive
    }
    _ = try await fixture.reader.article(id: id)
    try fill(fixture.store, .limit)
    fixture.answer(with: FakeReadeck.refusal(409)) { $0.method != "GET" }
    let before = try fixture.reader.stored()
    let report = try await fixture.reader.edit(id, kind)
    #expect(report.conflicts.count == 1 && report.left == 0, "\(report)")
    #expect(try before.count == 1 && fixture.reader.stored() == before)
  }

  @Test func `a list in any order is sorted: older articles displace no newer`() async throws {
    fixture.readeck.fill(4)
    fixture.readeck.pages.reverse()
    let ids = (0..<4).reversed().map(FakeReadeck.id)
    #expect(try await fixture.reader.unread().bookmarks.map(\.id) == ids)
    _ = fixture.asked()
    #expect(try await fixture.sync().kept == 4)
    #expect(fixture.asked().bodies == ids)
  }
}
