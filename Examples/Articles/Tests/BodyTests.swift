import ExampleTesting

@testable import Articles

/// Bodies of articles: difficult ones, and answers that are none.
@Suite(.fixture(Fixture.self)) struct BodyTests {
  private let fixture = Fixture.current

  @Test(arguments: [
    ("text/html; charset=utf-8", "\n<!DOCTYPE html><html>log in", "login page"),
    ("text/html", "<!-- x --><HTML lang=en><p>log in", "login page"),
    ("text/html", "<head><title>log in</title>", "login page"), ("text/html", " \n", "it is empty"),
    ("application/json", #"{"message": "sign in"}"#, "application/json"),
    ("text/html; charset=latin1", "<p>", "its charset latin1 is not UTF-8"),
    ("text/html", "<section><p>One</p> two", "its end is missing"),
  ]) func `a body that is no article fails alone`(type: String, body: String, reason: String)
    async throws
  {
    fixture.readeck.fill(2)
    fixture.answer(Fixture.body(0)) { answer in
      answer = .init(200, ["Content-Type": type], text: body)
    }
    let result = try await fixture.sync()
    #expect(result.stored == 1 && result.failed == 1 && !result.isStopped)
    #expect(result.failures.first?.contains(reason) == true, "\(result)")
    #expect(try fixture.reader.stored().ids == [FakeReadeck.id(1)])
  }

  @Test(arguments: [
    ("/login", "<div>Please log in</div>", false), ("/login", "<p>Please <a>log in</a>", false),
    ("/moved", "<section>moved</section>", true), (Fixture.body(0) + "?seen=1", "<p>x", true),
  ]) func `the end of a redirection is an article only if it has the form of one`(
    target: String, body: String, isArticle: Bool
  ) async throws {
    fixture.readeck.fill(1)
    fixture.server.become { [readeck = fixture.readeck] request in
      if request.path == target { return .init(200, ["Content-Type": "text/html"], text: body) }
      return request.path == Fixture.body(0)
        ? .init(302, ["Location": target]) : readeck.answer(request)
    }
    let result = try await fixture.sync()
    #expect(result.stored == (isArticle ? 1 : 0), "\(result)")
    #expect(result.failures.allSatisfy { $0.contains("login page") })
  }

  @Test(arguments: [
    ("<section><p title='<section'>x</p><!-- <section> --></section>", true),
    ("<section><p>x</p><section>y</section></section>", true),
    ("<section><p title='</section>'>x</p>", false), ("<section><p>x</p></sect", false),
    ("<section><!-- </section> -->x", false),
  ]) func `an article whose section is not closed is incomplete`(html: String, isWhole: Bool)
    async throws
  {
    fixture.readeck.fill(1)
    fixture.readeck.change(FakeReadeck.id(0)) { $0.html = html }
    let result = try await fixture.sync()
    #expect(result.stored == (isWhole ? 1 : 0), "\(result)")
    #expect(result.failures.allSatisfy { $0.hasSuffix("its end is missing") })
  }

  @Test(arguments: ["text/html;charset=\"UTF-8\"", "text/html; charset=us-ascii", "text/html"])
  func `an article is UTF-8, and bytes that are not are replaced`(type: String) async throws {
    fixture.readeck.fill(1)
    let body = Data([0x41, 0xE9, 0x42, 0xC3, 0xA9])
    fixture.answer(Fixture.body(0)) { $0 = .init(200, ["Content-Type": type], body: body) }
    #expect(try await fixture.sync().outcome == .done)
    #expect(try await fixture.reader.article(id: FakeReadeck.id(0)).html == "A\u{FFFD}B\u{E9}")
  }

  @Test func `difficult pages are stored as they are`() async throws {
    fixture.readeck.fill(6, images: 0)
    let long = "/img?q=" + String(repeating: "a%2C", count: 512)
    fixture.readeck.set(.init(bytes: FakeReadeck.Image.bytes(3)), at: long)
    let huge = "<p>" + String(repeating: "\u{E9}", count: 800_000) + "</p><img src='\(long)'>"
    fixture.readeck.change(FakeReadeck.id(0)) { $0.html = huge }
    fixture.readeck.change(FakeReadeck.id(1)) { $0.title = " \n" }
    fixture.readeck.change(FakeReadeck.id(2)) { $0.html = "<section></section>" }
    fixture.readeck.change(FakeReadeck.id(3)) { $0.html = "the same" }
    fixture.readeck.change(FakeReadeck.id(4)) { $0.html = "the same" }
    fixture.readeck.pages += [fixture.readeck.pages[2], fixture.readeck.pages[2]]
    let result = try await fixture.sync()
    #expect(result.outcome == .done && result.stored == 6 && result.total == 6)
    #expect(fixture.asked().bodies.count == 6)
    fixture.network.fail()
    #expect(try await fixture.reader.article(id: FakeReadeck.id(0)).html == huge)
    #expect(try await fixture.reader.article(id: FakeReadeck.id(2)).html == "<section></section>")
    for number in 3...4 {
      #expect(try await fixture.reader.article(id: FakeReadeck.id(number)).html == "the same")
    }
    let image: [UInt8]? = try fixture.images.value(for: fixture.address(long))
    #expect(image == FakeReadeck.Image.bytes(3))
    let untitled = try fixture.reader.stored().first { $0.bookmark.id == FakeReadeck.id(1) }
    #expect(untitled?.bookmark.name == "https://example.com/\(FakeReadeck.id(1))")
  }
}
