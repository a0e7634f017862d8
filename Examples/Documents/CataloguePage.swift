import Foundation
import HTTPTypes
import Larder
import LarderCodecs
import LarderHTTP
import LarderHTTPTesting
import LarderShared
import LarderSharedTesting
import LarderTesting
import LarderURLSession
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The programs of the reference's articles, in the folders `.docc` of the libraries.
@Suite struct CataloguePage {
  private typealias Color = Origin.Color

  private let service = Origin()
  private let store: Store

  init() throws { store = try Store.temporary(options: Store.Options(clock: ManualClock())) }

  @Test func `an entry`() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      let store = try Store(at: path)
      let notes = store.cache(TextCodec(), in: "notes")
      try notes.set("sunny", for: "zurich", expires: .after(.minutes(15)))
      let note = try notes.value(for: "zurich")
      #expect(note == "sunny")
      try store.close()
    }
  }

  @Test func `a type of one's own`() throws {
    let colors = store.cache(
      of: Color.self, in: "colors",
      rules: Rules(expires: .after(.days(7)), limits: Limits(entries: 1_000)))
    try colors.set(Color(name: "Red"), for: "4")
    let red = try colors.value(for: "4")
    #expect(red == Color(name: "Red"))
  }

  @Test func `a load`() async throws {
    let colors = store.cache(of: Color.self, in: "colors")
    let color = try await colors.value(
      for: "5", expires: .after(.hours(1)), stale: Staleness(onError: .hours(24))
    ) {
      try await service.color("5")
    }
    #expect(color == Color(name: "Color 5"))
  }

  @Test func `a clock that the test moves`() throws {
    let clock = ManualClock()
    let store = try Store.temporary(options: Store.Options(clock: clock))
    let notes = store.cache(TextCodec(), in: "notes")
    try notes.set("sunny", for: "zurich", expires: .after(.minutes(15)))
    clock.advance(by: .minutes(16))
    let note = try notes.value(for: "zurich")
    #expect(note == nil)
    let report = try store.verify()
    if !report.isSound { print(report.faults) }
    #expect(report.isSound)
  }

  @Test func `an HTTP cache`() async throws {
    let transport = service
    let cache = HTTPCache(in: store.namespace("http"), over: transport)
    let request = HTTPRequest(
      method: .get, scheme: "https", authority: "api.example.com", path: "/boards/1")
    let answer = try await cache.send(request)
    print(answer.response.status, answer.isHit, try await answer.body.bytes().count)
    #expect(!answer.isHit)
  }

  @Test func `a transport over URLSession`() async throws {
    try await LocalServer.run { server in
      server.become { _ in .init(200, ["Cache-Control": "max-age=60"], text: "hello") }
      let transport = URLSessionTransport()
      let cache = HTTPCache(in: store.namespace("http"), over: transport)
      let host = String(server.base.dropFirst("http://".count))
      let request = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/boards/1")
      let answer = try await cache.send(request)
      #expect(try await answer.body.bytes() == Array("hello".utf8))
    }
  }

  @Test func `a temporary store`() throws {
    try withTemporaryStore { store, clock in
      let notes = store.cache(TextCodec(), in: "notes")
      try notes.set("sunny", for: "zurich", expires: .after(.minutes(15)))
      clock.advance(by: .minutes(16))
      let note = try notes.value(for: "zurich")
      #expect(note == nil)
    }
  }

  @Test func `the promises of a codec`() async throws {
    try await checkConformance(of: JSONCodec<Color>(), with: [Color(name: "Red"), Color(name: "")])
  }

  @Test func `a server and a transport of a test`() async throws {
    try await withTemporaryStore { store, _ in
      try await LocalServer.run { server in
        server.become { _ in .init(200, ["Cache-Control": "max-age=60"], text: "hello") }
        let network = FaultyTransport(over: URLSessionTransport())
        network.plan = [.pass, .fail(URLError(.timedOut))]
        let cache = HTTPCache(in: store.namespace("http"), over: network)
        let host = String(server.base.dropFirst("http://".count))
        let request = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/a")
        for _ in 1...2 { _ = try await cache.send(request).body.bytes() }
        #expect(server.count == 1)  // the second answer came from the store
      }
    }
  }

  @Test func `a shared tier`() async throws {
    let tier = MemoryTier()
    try await withTemporaryStore { store, _ in
      let shared = Shared(tier)
      let prices = store.cache(
        of: Int.self, in: "prices", rules: Rules(expires: .after(.minutes(2))), shared: shared)
      let price = try await prices.value(for: "flour") { try await service.price("flour") }
      try await prices.set(210, for: "flour")
      #expect(price == 200)
    }
  }

  @Test func `a shared tier that fails`() async throws {
    try await withTemporaryStore { store, clock in
      let tier = MemoryTier(clock: clock)
      let prices = store.cache(of: Int.self, in: "prices", shared: Shared(tier))
      tier.failAll(with: .unreachable)
      let result = try await prices.result(for: "flour") { 210 }
      #expect(result.value == 210 && result.error != nil)
    }
  }
}
