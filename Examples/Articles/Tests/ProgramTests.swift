import ExampleTesting

@Suite(.fixture(Fixture.self)) struct ProgramTests {
  private let fixture = Fixture.current
  private let program = TestedProgram("larder-articles", store: "my articles")

  @Test func `users and the recording have separate data, and a title cannot command the terminal`()
    async throws
  {
    fixture.readeck.fill(1)
    fixture.readeck.change(0) {
      $0.title = "\u{1B}]0;mine\u{7}\u{9B}31m\r\nnext\tone\u{202E}\u{7F}\u{85}x\u{2028}y"
    }
    let address = "--server \(fixture.server.base)/api"
    let account = "\(address) --token \(FakeReadeck.token)"
    let title = "\u{FFFD}]0;mine\u{FFFD}\u{FFFD}31m  next one\u{FFFD}\u{FFFD} x y"
    try await program.check(
      """
      sync \(account)                                           | 1 of 1 articles
      list \(account)                                           | \(title)_1 article_
      settings \(address) --token another                       | stored           0 articles
      edit archive \(FakeReadeck.id(0)) --no-network \(account) | ^0 sent, 1 waiting
      sync --offline --token \(FakeReadeck.token)               | ^6 of 6 articles: done
      list \(account)                                           | ^0 articles_
      settings \(account)                                       | archive "\(title)"
      """)
  }
}
