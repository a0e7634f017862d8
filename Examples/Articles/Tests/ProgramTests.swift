import ExampleTesting

/// The built program, from outside, over the recording in the repository.
@Suite(.fixture(Fixture.self)) struct ProgramTests {
  private let fixture = Fixture.current
  private let program: TestedProgram

  init() throws { program = try TestedProgram("larder-articles", store: "my articles") }

  @Test func `recorded articles are listed and opened, and errors have their codes`() async throws {
    try await program.check(
      """
      list --online --offline --no-network = 4 | ! ^error: there is no network, and no article
      show nosuch --offline = 1      | ! ^error: the service answered 404
      show "" --offline = 2          | ! invalid
      edit mark nosuch --offline = 1 | ! ^error: the article nosuch is not stored, and the service answered 404
      edit mark nosuch --no-network = 4 | ! ^error: the service cannot be reached: there is no network
      outbox --offline --send --drop x = 2 | ! ^Error: give either --send or --drop_
      outbox --offline               | ^0 changes
      sync --no-network = 4          | ! ^error: the service cannot be reached: there is no network_ | ! hint:
      sync --offline                 | ^6 of 6 articles: done
      sync --offline                 | ^6 of 6 articles: nothing new_
      list --offline --no-network    | 6 articles_ | kept    https://notes.example/untitled_
      list --online --offline --no-network | 6 articles_ | ! ^there is no network: these are the stored articles_
      list FERRY --offline           | 1 article_
      edit mark Kx7QmZ3vT9sLw2RbY5nHd1 --offline --no-network | ^0 sent, 1 waiting
      outbox --offline               | mark "The ferry that waits
      outbox                         | ^0 changes not sent yet | ! ^1 change of another token or server
      list --offline                 | * The ferry that waits
      list                           | ^0 articles_
      status --offline               | 1 change not sent yet
      edit burn x = 2                | ! ^Error:
      settings --articles 25 = 2     | ! 25 articles are not possible
      settings --image-megabytes 49 = 2 | ! 49 megabytes
      settings --articles 0 --offline | articles         0_
      list --offline                 | ^0 articles_
      settings --no-on --offline     | ^offline reading  off_
      sync --offline = 5             | ! ^error: offline reading is switched off_hint:
      sync --offline --if-due        | ^offline reading is switched off_
      sign-out --offline             | ^removed: 0 articles | lost: 1 unsent change
      settings --offline             | ^offline reading  off_
      settings                       | ^offline reading  on_
      """)
  }

  @Test func `everything as JSON`() async throws {
    try await program.check(
      """
      settings --articles 30 --images --offline --json | {"articles":30,"imageMegabytes":200,"isOn":true,"keepsImages":true}
      sync --offline --json                  | "outcome":"done" | "images":5 | "articles":6
      list ferry --offline --json            | "images":2,"isArchived":false,"isEdited":false,"isKept":true
      list ferry --online --offline --json   | "source":"server"
      list ferry --online --offline --no-network --json | "age": | "source":"store" | ! there is no network
      settings --no-images --offline --json  | "keepsImages":false
      list ferry --offline --json            | "images":0,"isArchived":false,"isEdited":false,"isKept":true
      status --offline --json                | "imageBytes":0
      edit mark Kx7QmZ3vT9sLw2RbY5nHd1 --offline --no-network | 1 waiting
      outbox --offline --json                | "kind":"mark","made":"20
      sign-out --offline --json              | "articles":6 | "lastSync":"20
      status --offline --json                | "articles":0
      """)
  }

  @Test func `an opened article has its images when the program ends`() async throws {
    try await program.check(
      """
      settings --images --offline                  | images           kept_
      show Kx7QmZ3vT9sLw2RbY5nHd1 --offline        | ^<section
      status --offline                             | ^1 article, 444 B of HTML and 223 B of
      """)
  }

  /// Larder tells developers of writes that block a thread of tasks; at a terminal, or where this variable is set.
  @Test func `no command blocks a thread of tasks with a write`() async throws {
    for command in [
      "settings --images", "sync", "show Kx7QmZ3vT9sLw2RbY5nHd1",
      "edit mark Kx7QmZ3vT9sLw2RbY5nHd1 --no-network", "outbox --drop Kx7QmZ3vT9sLw2RbY5nHd1",
      "sync", "settings --articles 10 --no-images", "settings --no-on", "sign-out",
    ] {
      let line = "LARDER_WARNINGS=1 larder-articles \(command) --offline --store '\(program.store)'"
      let outcome = try await Outcome(line: line)
      #expect(outcome.code == 0 && outcome.error == "", "\(command): \(outcome)")
    }
  }

  // MARK: Over a server

  private var account: String { "--server \(fixture.server.base)/api --token \(FakeReadeck.token)" }

  @Test func `a sync that ends early has exit code 4, also if it stored something`() async throws {
    fixture.readeck.fill(3)
    fixture.server.become { [server = fixture.server, readeck = fixture.readeck] request in
      server.count > 2 ? .init(429, ["Retry-After": "600"]) : readeck.answer(request)
    }
    let lost = "sync \(account) = 4 | ^1 of 3 articles: partial"
    try await program.check(lost)
  }

  @Test func `a title can neither command the terminal nor break its row`() async throws {
    fixture.readeck.fill(1)
    fixture.readeck.change(FakeReadeck.id(0)) {
      $0.title = "\u{1B}]0;mine\u{7}\u{9B}31m\r\nnext\tone"
    }
    let list = "list --online \(account) | \u{FFFD}]0;mine\u{FFFD}\u{FFFD}31m  next one_1 article_"
    try await program.check(list)
  }

  @Test func `articles have labels`() async throws {
    fixture.readeck.fill(2)
    try await program.check(
      """
      sync \(account)                 | 2 of 2 articles
      list --label ferries \(account) | 2 articles
      list --label hats \(account)    | ^0 articles_
      """)
  }

  @Test func `a recording gets no change of the user, and leaves the user's data`() async throws {
    fixture.readeck.fill(1)
    try await program.check(
      """
      sync \(account)                                              | 1 of 1 articles
      edit archive \(FakeReadeck.id(0)) --no-network \(account)    | ^0 sent, 1 waiting
      outbox --send --offline --token \(FakeReadeck.token)         | ^0 sent, 0 waiting
      sync --offline --token \(FakeReadeck.token)                  | articles: done
      list \(account)                                              | ^0 articles_
      outbox --drop \(FakeReadeck.id(0)) \(account)                | ^1 change given up
      """)
  }

  @Test func `a change that was dropped is told with exit code 5`() async throws {
    fixture.readeck.fill(1)
    let id = FakeReadeck.id(0)
    fixture.answer(with: FakeReadeck.refusal(409)) { $0.method == "PATCH" }
    try await program.check(
      """
      sync \(account)                        | 1 of 1 articles
      edit mark \(id) --no-network \(account) | ^0 sent, 1 waiting
      outbox --send \(account) = 5            | not sent: mark
      edit mark \(id) \(account) = 5          | not sent: mark
      outbox \(account)                       | ^0 changes not sent yet
      edit read \(id) --no-network \(account) | ^0 sent, 1 waiting
      """)
    let other = account.replacing(FakeReadeck.token, with: "another")
    try await program.check(
      """
      outbox \(other)            | ^0 changes not sent yet | ! ^1 change of another token or server
      outbox --send \(account) = 5 | not sent: read
      """)
    for (status, kind) in [(401, "archive"), (403, "unarchive")] {
      fixture.answer(with: FakeReadeck.refusal(status)) { $0.method == "PATCH" }
      try await program.check(
        "edit \(kind) \(id) \(account) = 5 | ! hint: give a valid credential: --token")
    }
  }
}
