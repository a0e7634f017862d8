import ExampleTesting

/// The built program, from outside.
@Suite(.fixture(Fixture.self)) struct ProgramTests {
  private let fixture = Fixture.current
  private let program: TestedProgram
  private let ferry = "Kx7QmZ3vT9sLw2RbY5nHd1"

  init() throws { program = try TestedProgram("larder-articles", store: "my articles") }

  @Test func `recorded articles are listed and opened, and errors have their codes`() async throws {
    try await program.check(
      """
      list --online --offline --no-network = 4 | ! ^error: there is no network, and no article
      show nosuch --offline = 1      | ! ^error: the service answered 404
      show "" --offline = 2          | ! invalid
      edit mark nosuch --offline = 1 | ! ^error: the service answered 404
      edit mark nosuch --no-network = 4 | ! ^error: the service cannot be reached: there is no network
      edit burn x = 2                | ! ^Error:
      sync --no-network = 4          | ! ^error: the service cannot be reached: there is no network_ | ! hint:
      sync --offline                 | ^6 of 6 articles: done
      sync --offline                 | ^6 of 6 articles: nothing new_
      sync --offline --if-due        | less than four hours ago_
      list --offline --no-network    | 6 articles_ | kept    https://notes.example/untitled_
      list --online --offline --no-network | 6 articles_ | ! ^there is no network: these are the stored articles_
      list FERRY --offline           | 1 article_
      edit mark \(ferry) --offline --no-network | ^0 sent, 1 waiting
      settings --offline             | last sync        20 | mark "The ferry that waits
      settings                       | ^offline reading  on_ | stored           0 articles
      list --offline                 | * The ferry that waits
      list                           | ^0 articles_
      settings --articles 25 = 2     | ! not possible
      settings --image-megabytes 49 = 2 | ! not possible
      settings --articles 0 --offline | articles         at most 0_ | stored           0 articles
      settings --no-on --offline     | ^offline reading  off_
      sync --offline = 5             | ! ^error: offline reading is switched off_hint:
      sign-out --offline             | ^removed: 0 articles | lost: 1 unsent change
      settings --offline             | ^offline reading  off_
      """)
  }

  @Test func `everything as JSON`() async throws {
    try await program.check(
      """
      settings --articles 30 --images --offline --json | {"articles":30,"imageMegabytes":200,"isOn":true,"keepsImages":true}
      sync --offline --json                  | "kept":6 | "images":5
      list ferry --offline --json            | "isEdited":false,"isKept":true,"source":"store"
      list ferry --online --offline --json   | "source":"server"
      edit mark \(ferry) --offline --no-network --json | "left":1
      settings --no-images --offline --json  | "imageBytes":0 | "kind":"mark"
      sign-out --offline --json              | "articles":6 | "lastSync":"20
      """)
  }

  @Test func `an opened article has its images when the program ends`() async throws {
    try await program.check(
      """
      settings --images --offline    | images           at most 200 MB_
      show \(ferry) --offline        | ^<section
      settings --offline             | 1 article, 444 bytes of HTML and 223 bytes of
      """)
  }

  /// Larder tells developers of writes that block a thread of tasks; at a terminal, or where this variable is set.
  @Test func `no command blocks a thread of tasks with a write`() async throws {
    for command in [
      "settings --images", "sync", "show \(ferry)", "sync", "edit mark \(ferry) --no-network",
      "settings --articles 10 --no-images", "settings --no-on", "sign-out",
    ] {
      let line = "LARDER_WARNINGS=1 larder-articles \(command) --offline --store '\(program.store)'"
      let outcome = try await Outcome(line: line)
      #expect(outcome.code == 0 && outcome.error == "", "\(command): \(outcome)")
    }
  }

  // MARK: Over a server

  private var account: String { "--server \(fixture.server.base)/api --token \(FakeReadeck.token)" }

  @Test func `a title can neither command the terminal nor break its row`() async throws {
    fixture.readeck.fill(1)
    fixture.readeck.change(FakeReadeck.id(0)) {
      $0.title = "\u{1B}]0;mine\u{7}\u{9B}31m\r\nnext\tone"
    }
    let list = "list --online \(account) | \u{FFFD}]0;mine\u{FFFD}\u{FFFD}31m  next one_1 article_"
    try await program.check(list)
  }

  @Test func `a sync that ends early or lacks an article has exit code 4`() async throws {
    fixture.readeck.fill(3)
    fixture.readeck.change(FakeReadeck.id(1)) { $0.status = 500 }
    let partial = "sync \(account) = 4 | ^2 of 3 articles: partial | ! ^failed: Article 1: "
    try await program.check(partial)
    fixture.server.become { [server = fixture.server, readeck = fixture.readeck] request in
      server.count > 6 ? .init(429, ["Retry-After": "600"]) : readeck.answer(request)
    }
    fixture.readeck.fill(3, from: 3)
    let ended = "sync \(account) = 4 | ^3 of 6 articles: partial | ! limits requests"
    try await program.check(ended)
  }

  @Test func `a recording gets no change of the user, and leaves the user's data`() async throws {
    fixture.readeck.fill(1)
    try await program.check(
      """
      sync \(account)                                              | 1 of 1 articles
      edit archive \(FakeReadeck.id(0)) --no-network \(account)    | ^0 sent, 1 waiting
      sync --offline --token \(FakeReadeck.token)                  | ^6 of 6 articles: done
      list \(account)                                              | ^0 articles_
      settings \(account)                                          | archive "Article 0"
      """)
  }

  @Test func `a change that was dropped, and a refused user, are told with exit code 5`()
    async throws
  {
    fixture.readeck.fill(1)
    let id = FakeReadeck.id(0)
    fixture.answer(with: FakeReadeck.refusal(409)) { $0.method == "PATCH" }
    try await program.check(
      """
      sync \(account)                         | 1 of 1 articles
      edit mark \(id) --no-network \(account) | ^0 sent, 1 waiting
      sync \(account) = 5                     | 1 of 1 articles | ! not sent: mark
      edit mark \(id) \(account) = 5          | ! not sent: mark
      """)
    for status in [401, 403] {
      fixture.answer(with: FakeReadeck.refusal(status)) { $0.method == "PATCH" }
      let edit = "edit read \(id) \(account) = 5 | ! hint: give a valid credential: --token"
      try await program.check(edit)
    }
    fixture.readeck.change(id) { $0.updated = "2026-01-01T00:00:00Z" }
    let list = "list --online \(account) | edited"
    try await program.check(list)
    fixture.server.become { _ in .init(401) }
    let show = "show \(id) \(account) = 5 | ^<section>0 | ! now: the service answered 401"
    try await program.check(show)
  }
}
