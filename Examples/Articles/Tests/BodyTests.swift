import ExampleTesting

@testable import Articles

/// Bodies of articles: difficult ones, and answers that are none.
@Suite(.fixture(Fixture.self)) struct BodyTests {
  private let fixture = Fixture.current

  @Test(arguments: [
    ("text/html; charset=utf-8", "\n<!DOCTYPE html><html>log in", "login page"),
    ("text/html", "<head><title>log in</title>", "login page"),
    ("application/json", #"{"message": "sign in"}"#, "application/json"),
    ("text/html", " \n", "its end is missing"),
    ("text/html", "<section><p>One</p> two", "its end is missing"),
    ("text/html", "<section><p title='</section>'>x</p>", "its end is missing"),
    ("text/html", "<section><!-- </section> -->x", "its end is missing"),
  ]) func `a body that is no whole article fails alone`(type: String, body: String, reason: String)
    async throws
  {
    fixture.readeck.fill(2)
    fixture.answer(Fixture.body(0)) { $0 = .init(200, ["Content-Type": type], text: body) }
    let result = try await fixture.sync()
    #expect(result.stored == 1 && result.failed == 1 && !result.isStopped)
    #expect(result.failures.first?.contains(reason) == true, "\(result)")
    #expect(try fixture.reader.stored().ids == [FakeReadeck.id(1)])
  }
}
