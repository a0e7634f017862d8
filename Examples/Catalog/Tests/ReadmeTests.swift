import Catalog
import ExampleTesting
import Larder
import LarderHTTP
import LarderURLSession
import Testing

/// The program of the page is compiled and does what it says.
@Suite(.fixture(Fixture.self)) struct ReadmeTests {
  private let fixture = Fixture.current

  @Test func `the program of the page reads the whole catalog`() async throws {
    #expect(try PageProgram(of: "Catalog/README.md").isIn(#filePath))
    fixture.fake.fill(120)
    let (store, token) = (fixture.store, "one")
    let transport = LocalTransport(to: fixture.server, over: URLSessionTransport())

    let cache = HTTPCache(in: store.namespace("catalog.http"), over: Catalog.network(transport))
    let catalog = Catalog(
      at: "https://catalog.example/api", user: "ines", token: token, over: cache)

    let reader = try catalog.reader(limit: 50)
    try await reader.more()
    await reader.shows(41)
    try await reader.more()
    try await reader.refresh()

    let all = try await catalog.all()
    print(cache.statistics.hitRate ?? 0)

    #expect(all.slugs == fixture.slugs())
    #expect(await reader.contents.slugs.count == 100)
    #expect(fixture.server.received.allSatisfy { $0.path.hasPrefix("/api/") })
  }
}
