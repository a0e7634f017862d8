import ExampleTesting

@Suite(.fixture(Fixture.self)) struct ProgramTests {
  private let fixture = Fixture.current
  private let program = TestedProgram("larder-articles", store: "my articles")
  private let ferry = "Kx7QmZ3vT9sLw2RbY5nHd1"

  @Test func `recorded articles are listed and opened, and errors have their codes`() async throws {
    try await program.check(
      """
      show nosuch --offline = 1      | ! ^error: the service answered 404
      edit mark nosuch --offline = 1 | ! ^error: the service answered 404
      edit mark nosuch --no-network = 4 | ! ^error: the service cannot be reached: there is no network
      edit burn x = 2                | ! ^Error:
      sync --no-network = 4          | ! ^error: the service cannot be reached: there is no network_ | ! hint:
      sync --offline                 | ^6 of 6 articles: done
      sync --offline                 | ^6 of 6 articles: nothing new_
      sync --offline --if-due        | less than four hours ago_
      list --offline --no-network    | 6 articles_ | kept    https://notes.example/untitled_
      edit mark \(ferry) --offline --no-network | ^0 sent, 1 waiting
      settings --images --offline    | last sync        20 | mark "The ferry that waits | images           at most 200 MB_
      settings                       | ^offline reading  on_ | stored           0 articles
      list --offline                 | * The ferry that waits
      list                           | ^0 articles_
      show \(ferry) --offline        | ^<section
      settings --articles 0 --offline | articles         at most 0_ | stored           0 articles
      settings --no-on --offline     | ^offline reading  off_
      sync --offline = 5             | ! ^error: offline reading is switched off_hint:
      sign-out --offline             | ^removed: 0 articles | 1 unsent change_
      settings --offline             | ^offline reading  off_ | last sync        never_
      """)
  }

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
