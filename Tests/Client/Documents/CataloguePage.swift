import HTTPTypes
import Larder
import LarderHTTP
import Testing

/// The programs of the reference's articles, in the folders `.docc` of the libraries.
@Suite struct CataloguePage {
  private struct Color: Codable, Equatable { var name: String }
  private struct Service: HTTPTransport {
    func color(_ key: String) async throws -> Color { Color(name: "Color " + key) }
    func send(
      _ request: HTTPRequest, body: HTTPBody,
      interim: @escaping @Sendable (HTTPResponse) async -> Void
    ) async throws -> (HTTPResponse, HTTPBody) {
      (HTTPResponse(status: .ok), HTTPBody([1, 2, 3]))
    }
  }

  private let service = Service()

  @Test func `an entry`() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      let store = try Store(at: path)
      let notes = store.namespace("notes")
      try notes.set("sunny", for: "zurich", expires: .after(.minutes(15)))
      let note: String? = try notes.value(for: "zurich")
      #expect(note == "sunny")
      try store.close()
    }
  }

  @Test func `a type of one's own`() throws {
    let store = try Store.temporary(clock: ManualClock())
    let colors = store.cache(
      of: Color.self, in: "colors",
      rules: Rules(expires: .after(.days(7)), limits: Limits(entries: 1_000)))
    try colors.set(Color(name: "Red"), for: "4")
    let red = try colors.value(for: "4")
    #expect(red == Color(name: "Red"))
  }

  @Test func `a load`() async throws {
    let store = try Store.temporary(clock: ManualClock())
    let colors = store.cache(of: Color.self, in: "colors")
    let color = try await colors.value(
      for: "5", expires: .after(.hours(1)), stale: .onError(.hours(24))
    ) {
      try await service.color("5")
    }
    #expect(color == Color(name: "Color 5"))
  }

  @Test func `a clock that the test moves`() throws {
    let clock = ManualClock()
    let store = try Store.temporary(clock: clock)
    let notes = store.namespace("notes")
    try notes.set("sunny", for: "zurich", expires: .after(.minutes(15)))
    clock.advance(by: .minutes(16))
    let note: String? = try notes.value(for: "zurich")
    #expect(note == nil)
    let report = try store.verify()
    if !report.isSound { print(report.faults) }
    #expect(report.isSound)
  }

  @Test func `an HTTP cache`() async throws {
    let store = try Store.temporary(clock: ManualClock())
    let transport = service
    let cache = HTTPCache(in: store.namespace("http"), over: transport)
    let request = HTTPRequest(
      method: .get, scheme: "https", authority: "api.example.com", path: "/boards/1")
    let answer = try await cache.send(request)
    print(answer.response.status, answer.isHit, try await answer.body.bytes().count)
    #expect(!answer.isHit)
  }
}
