import Larder
import TestSupport
import Testing

@testable import LarderHTTP

/// A realm has the data of one user.
@Suite struct RealmTests {
  @Test func `two users see nothing of each other, and names tell nothing`() throws {
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    let (alice, bob) = (store.realm(of: "alice"), store.realm(of: "bob"))
    let boards = alice.cache(of: String.self, in: "boards")
    try boards.set("hers", for: "a")
    try bob.cache(of: String.self, in: "boards").set("his", for: "a")
    #expect(
      try store.realm(of: "alice").cache(of: String.self, in: "boards").value(for: "a") == "hers")
    #expect(try bob.namespace("boards").count() == 1)
    let names = try store.namespaces().map(\.name)
    #expect(names.count == 2 && names.allSatisfy { $0.hasPrefix("boards.") && $0.count == 39 })
    #expect(names.allSatisfy { !$0.contains("alice") && !$0.contains("bob") })
    let other = try Store.temporary()
    #expect(other.realm(of: "alice").name(of: "boards") != alice.name(of: "boards"))
  }

  @Test func `after a logout nothing of the user is found, nor comes back`() async throws {
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    let (alice, bob) = (store.realm(of: "alice"), store.realm(of: "bob"))
    for name in ["boards", "notes"] {
      try await alice.cache(of: String.self, in: name).set("hers", for: "a")
      try await bob.cache(of: String.self, in: name).set("his", for: "a")
    }
    let (begun, mayEnd) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
    // The namespace `new` does not exist at the logout, but the logout must refuse the value of this load, too.
    let load = Task {
      try await alice.cache(of: String.self, in: "new").value(
        for: "a", options: LoadOptions(waitsForCommit: true)
      ) {
        begun.continuation.finish()
        for await _ in mayEnd.stream {}
        return "hers"
      }
    }
    for await _ in begun.stream {}
    #expect(try alice.clear() == RemovalResult(entries: 2, bytes: 12))
    mayEnd.continuation.finish()
    #expect(try await load.value == "hers")
    for name in ["boards", "notes", "new"] {
      #expect(try alice.cache(of: String.self, in: name).value(for: "a") == nil)
    }
    #expect(try bob.cache(of: String.self, in: "boards").value(for: "a") == "his")
    #expect(try store.verify().faults == [])
  }
}
