import HTTPTypes
import Larder
import Testing

@testable import LarderHTTP

struct ResponseKeyTests {
  @Test func `RFC 9111, 2: keys have scheme, host, path and query, and no secrets`() {
    func key(_ path: String, host: String = "example.com", scheme: String = "https") -> String? {
      ResponseKey(request("GET", path, host: host, scheme: scheme))?.uri
    }
    #expect(key("/a?b=1") == "https://example.com/a?b=1")
    #expect(key("/a", host: "EXAMPLE.com:443") == "https://example.com/a")
    #expect(key("/a", host: "example.com:80") == "https://example.com:80/a")
    #expect(key("/a", host: "u:p@example.com", scheme: "http") == "http://example.com/a")
    #expect(key("") == "https://example.com/")
    #expect(key("/A") != key("/a") && key("/a?b=1&c=2") != key("/a?b=1%26c=2"))
    let secret = key("/a?q=1&key=geheim&x")
    #expect(
      secret?.contains("geheim") == false
        && secret?.hasPrefix("https://example.com/a?q=1&key=~") == true)
    #expect(secret?.hasSuffix("&x") == true)
    #expect(
      key("/a?key=1") != key("/a?key=2") && key("/a?k%65y=geheim")?.contains("geheim") == false)
    let policy = HTTPCachePolicy(secretParameters: ["my key"])
    let spaced = ResponseKey(request("GET", "/a?my+key=geheim"), policy: policy)
    #expect(spaced?.uri.contains("geheim") == false)
    #expect(ResponseKey(HTTPRequest(method: .get, scheme: nil, authority: "x", path: "/")) == nil)
  }
}

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
    #expect(try Store.temporary().realm(of: "alice").name(of: "boards") != alice.name(of: "boards"))
  }

  @Test func `after a logout nothing of the user is found, nor comes back`() async throws {
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    let (alice, bob) = (store.realm(of: "alice"), store.realm(of: "bob"))
    // U+0600 forms one character with the dot that follows the name of the namespace.
    for name in ["boards", "notes", "x\u{600}"] {
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
    #expect(try alice.clear() == RemovalResult(entries: 3, bytes: 18))
    mayEnd.continuation.finish()
    #expect(try await load.value == "hers")
    for name in ["boards", "notes", "x\u{600}", "new"] {
      #expect(try alice.cache(of: String.self, in: name).value(for: "a") == nil)
    }
    #expect(try bob.cache(of: String.self, in: "boards").value(for: "a") == "his")
    #expect(try store.verify().faults == [])
  }
}

struct StoredResponseTests {
  @Test func `a response is kept as long as it may be of use`() {
    func kept(_ fields: Pairs) -> Int64 {
      let stored = StoredResponse(
        response: response(200, fields), requested: start, received: start, bodySize: 0,
        vary: .empty)
      return start.duration(to: stored.keptUntil(policy: HTTPCachePolicy())).components.seconds
    }
    let (day, month) = (Int64(86_400), Int64(30 * 86_400))
    #expect(kept([("Cache-Control", "max-age=300, must-revalidate")]) == 300)
    #expect(kept([("Cache-Control", "max-age=300, must-revalidate"), ("ETag", "\"1\"")]) == month)
    #expect(kept([("Cache-Control", "max-age=300")]) == 300 + day)
    #expect(kept([("Cache-Control", "max-age=300, stale-if-error=1000000")]) == 1_000_300)
    #expect(kept([("Cache-Control", "max-age=31536000"), ("ETag", "\"1\"")]) == 31_536_000 + day)
    #expect(kept([("Cache-Control", "no-cache")]) == 0)
    #expect(kept([]) == 0)
  }

  @Test func `metadata leads back to the same response, byte for byte`() throws {
    var stored = StoredResponse(
      response: HTTPResponse(
        status: .init(code: 299, reasonPhrase: "So so"),
        headerFields: HTTPFields([
          ("ETag", "W/\"\u{FC}\""), ("x", ""), ("X-y", " a: b "), ("x", "2"),
        ])), requested: start, received: start.advanced(by: .milliseconds(1)), bodySize: 7,
      vary: VaryKey(fields: [("a", "b=c d"), ("e", nil), ("f", "")]), credential: "abc")
    stored.response.headerFields.append(HTTPField(name: .eTag, value: [0x22, 0xFC, 0xFF, 0x22]))
    let bytes = stored.encodedMetadata()
    let again = try #require(StoredResponse(metadata: bytes, bodySize: 7))
    #expect(again == stored)
    #expect(again.fields.map(\.name.rawName) == stored.fields.map(\.name.rawName))
    #expect(again.response.status.reasonPhrase == "So so")
    #expect(again.encodedMetadata() == bytes)
  }

  @Test func `metadata that is none is not believed`() {
    let good = StoredResponse(
      response: response(200, [("a", "b")]), requested: start, received: start, bodySize: 0,
      vary: .empty
    ).encodedMetadata()
    #expect(StoredResponse(metadata: good, bodySize: 0) != nil)
    #expect(StoredResponse(metadata: [], bodySize: 0) == nil)
    let later = Array("larder-http/2".utf8) + good.dropFirst(13)
    #expect(StoredResponse(metadata: later, bodySize: 0) == nil)
    for count in 0..<good.count {
      // The parsing of cut metadata must not trap, and must not give fields that the whole metadata do not have.
      let cut = StoredResponse(metadata: Array(good.prefix(count)), bodySize: 0)
      #expect(cut?.fields.allSatisfy { $0.name.rawName == "a" } ?? true)
    }
  }
}
