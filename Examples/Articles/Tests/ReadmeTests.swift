import Articles
import ExampleTesting
import LarderURLSession
import Testing

/// The program of the page is compiled and does what it says.
@Suite(.fixture(Fixture.self)) struct ReadmeTests {
  private let fixture = Fixture.current

  @Test func `the program of the page stores articles and changes one`() async throws {
    #expect(try PageProgram(of: "Articles/README.md").isIn(#filePath))
    fixture.readeck.fill(3, images: 1)
    let (store, token) = (fixture.store, FakeReadeck.token)
    let transport = LocalTransport(to: fixture.server, over: URLSessionTransport())

    let readeck = Readeck(at: "https://read.example/api", token: token, over: transport)
    let reader = ArticleReader(in: store, at: readeck)

    let run = try reader.sync()
    for await step in run { print("\(step.done) of \(step.total ?? 0)") }
    print(await run.result().text)

    let list = try await reader.unread()
    let article = try await reader.article(list.bookmarks[0])
    let report = try await reader.edit(article.bookmark.id, .archive)
    print(report.sent, report.left)
    await reader.finish()

    #expect(await run.result().stored == 3 && report.sent == 1 && report.left == 0)
    #expect(try await reader.unread().bookmarks.count == 2)
  }
}
