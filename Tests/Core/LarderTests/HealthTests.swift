import Foundation
import TestSupport
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(20))) struct HealthTests {
  private let files = FileManager.default
  private let directory = TemporaryDirectory()

  @Test func `deleted and replaced files are reported, also to subscribers`() async throws {
    let path = directory.path
    let place = path + "/s"
    let store = try Store(at: place)
    let notes = store.namespace("notes")
    try await notes.set("v", for: "k")
    #expect(try store.health() == .healthy)
    var changes = store.changes().makeAsyncIterator()

    try files.moveItem(atPath: place, toPath: path + "/away")
    #expect(try store.health() == .missing)
    #expect(await changes.nextHealth() == .missing)
    #expect(try notes.text("k") == "v")

    _ = try Store(at: place)
    #expect(try store.health() == .replaced)
    #expect(await changes.nextHealth() == .replaced)
    #expect(try notes.text("k") == "v")
    #expect(failure { try notes.store.write { try $0.set("w", for: "k", in: notes) } } != nil)

    try files.removeItem(atPath: place)
    try files.moveItem(atPath: path + "/away", toPath: place)
    #expect(try store.health() == .healthy)
    #expect(await changes.nextHealth() == .healthy)
    try await notes.set("again", for: "k")
    try store.verifyAndClose()
    #expect(throws: LarderError.self) { try store.health() }
  }

  @Test(arguments: ["lock.open", "lock.write", "lock.queue", "lock.maps", "recovery"])
  func `a deleted file beside the data is reported`(name: String) throws {
    let store = try Store(at: directory.path + "/s")
    #expect(try store.health() == .healthy)
    try files.removeItem(atPath: directory.path + "/s/" + name)
    #expect(try store.health() == .missing)
  }

  @Test(.enabled(if: geteuid() != 0, "the superuser may write everything"))
  func `a directory that may not be written is reported`() async throws {
    let path = directory.path
    let store = try Store(at: path + "/s")
    try files.setAttributes([.posixPermissions: 0o500], ofItemAtPath: path + "/s")
    guard case .unwritable(let reason) = try store.health() else {
      Issue.record("it counts as writable")
      return
    }
    #expect(!reason.isEmpty)
    try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path + "/s")
    #expect(try store.health() == .healthy)
  }
}

extension Changes.Iterator {
  /// The next reported health. Skips all other changes, also `missed`, which a busy machine may cause.
  fileprivate mutating func nextHealth() async -> StoreHealth? {
    while let change = await next() {
      if case .health(let health) = change.kind { return health }
    }
    return nil
  }
}
