import HTTPTypes
import Larder
import Synchronization
import TestSupport
import Testing

@testable import LarderHTTP

struct ProcessTests {
  private let directory = TemporaryDirectory()
  private let store: Store
  init() throws { store = try Store(at: directory.path) }

  @Test func `two processes share what either was answered, and what either ends`() async throws {
    let origin = Origin.page("max-age=1000", [("ETag", "\"here\"")], body: "here")
    let cache = HTTPCache(in: store.namespace("http"), over: origin)
    func get(_ path: String) async throws -> String {
      try await cache.send(request("GET", path)).body.text()
    }
    let peer = try PeerProcess("http", directory.path, saying: "open")

    #expect(try await get("/a") == "here")
    #expect(try [peer.ask("GET /a"), peer.ask("GET /b")] == ["0 here", "1 peer"])
    #expect(try await get("/b") == "peer")
    #expect(origin.count == 1)

    #expect(try peer.ask("POST /a") == "2 peer")
    #expect(try await get("/a") == "here")
    #expect(origin.count == 2)
    #expect(try peer.ask("GET /a") == "2 here")
    #expect(try store.verify().faults == [])
  }

  @Test func `what one process ends of a host or a user is gone for the other`() async throws {
    let cache = HTTPCache(in: store.namespace("http"), over: Origin())
    let peer = try PeerProcess("http", directory.path, saying: "open")
    #expect(try peer.ask("GET /a one") == "1 peer")
    #expect(try peer.ask("GET /a two") == "2 peer")
    #expect(try peer.ask("GET /a one") == "2 peer")

    #expect(try await cache.removeAll(authorization: "one").entries == 1)
    #expect(try [peer.ask("GET /a two"), peer.ask("GET /a one")] == ["2 peer", "3 peer"])

    #expect(try await cache.removeAll(host: "example.com").entries == 2)
    #expect(try [peer.ask("GET /a two"), peer.ask("GET /a one")] == ["4 peer", "5 peer"])
    #expect(try store.verify().faults == [])
  }

  @Test(arguments: [
    "clear http", "clear-all", "invalidate http listing", "invalidate http http-host:example.com",
    "remove http https://example.com/a", "DELETE /a",
  ])
  func `what another process ends meanwhile is answered, not stored`(command: String) async throws {
    let gate = Gate()
    let origin = Origin.behind(gate, .page("max-age=1000", body: "old"))
    let cache = HTTPCache(in: store.namespace("http"), over: origin)
    // The namespace must exist before the removal: a removal in an absent namespace counts as a removal of all its keys.
    try await store.namespace("http").set([1], for: "other")
    let scenario = command.hasPrefix("DELETE") ? "http" : "commands"
    let peer = try PeerProcess(scenario, directory.path, saying: "open")
    func ask() async throws -> String {
      try await cache.send(request(), tags: ["listing"]).body.text()
    }
    let asking = Task { try await ask() }
    try await origin.wait(for: 1)
    #expect(try peer.ask(command) != nil)
    await gate.open()
    #expect(try await asking.value == "old")
    #expect(try !store.namespace("http").contains("https://example.com/a"))
    #expect(try await ask() == "old" && origin.count == 2)
    #expect(try store.namespace("http").contains("https://example.com/a"))
    #expect(try store.verify().faults == [])
  }

  @Test func `a realm that another process clears keeps no answer from before`() async throws {
    let realm = store.realm(of: "token")
    let gate = Gate()
    // A long body is stored in parts, so `clear` must also remove the part that is stored before the body ends.
    let body = [UInt8](repeating: 7, count: 600_000)
    let origin = LongBodyTests.origin(body) { if $0 == 400_000 { await gate.wait() } }
    let cache = HTTPCache(in: realm.namespace("http"), over: origin)
    let read = Atomic(0)
    let asking = Task {
      for try await piece in try await cache.send(request()).body {
        #expect(piece.allSatisfy { $0 == 7 })
        read.add(piece.count, ordering: .relaxed)
      }
    }
    // A client that is slower than the origin would read the removed part from the store. So this client reads all bytes first.
    try await waitUntil { read.load(ordering: .relaxed) == 400_000 }
    #expect(try realm.namespace("http").count() > 0)
    let peer = try PeerProcess("commands", directory.path, saying: "open")
    #expect(try peer.ask("clear-all") == "done")
    await gate.open()
    try await asking.value
    #expect(read.load(ordering: .relaxed) == body.count)
    #expect(try realm.namespace("http").count() == 0)
    #expect(try store.verify().faults == [])
  }
}
