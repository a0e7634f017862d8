import ExampleTesting

/// Tests of all programs, run from outside.
@Suite struct ProgramShapeTests {
  struct Program: Sendable {
    /// The folder in the examples, such as `Lego` for `larder-lego`, with the page and the recording.
    var folder: String
    /// A command over the recording, and a command that finds the result of the first command in the store.
    var command: String
    var looked: String
    /// A command that asks the service. The test adds the last argument, the service's address.
    var asks: String
    /// Commands that save choices of the user, and the namespaces of the user's data.
    var choice = ""
    var userData: [String] = []

    var name: String { "larder-" + folder.lowercased() }

    static let all = [
      Program(
        folder: "Lego", command: "fetch color 4 --offline",
        looked: "fetch color 4 --offline --no-network", asks: "fetch color 4 --base"),
      Program(
        folder: "Articles", command: "sync --offline",
        looked: "show Kx7QmZ3vT9sLw2RbY5nHd1 --offline --no-network", asks: "sync --server",
        choice: """
          settings --articles 10 --offline
          edit mark Kx7QmZ3vT9sLw2RbY5nHd1 --offline --no-network
          """,
        userData: ["articles.outbox", "articles.settings", "articles.sync"]),
      Program(
        folder: "Catalog", command: "list --offline", looked: "list --offline --no-network",
        asks: "list --server", choice: "list --offline --tier plus", userData: ["catalog.choices"]),
      Program(
        folder: "Departures", command: "favourites 8503651 8503669 --offline",
        looked: "board 8503651 --offline", asks: "board 1 --base"),
    ]
  }

  @Test(arguments: Program.all)
  func `version, help, a default store, codes, hits in the log, and closing lines that work`(
    program: Program
  ) async throws {
    let fixture = ProgramFixture()
    func run(_ line: String) async throws -> Outcome {
      try await Outcome(line: "\(program.name) \(line)", in: fixture)
    }
    #expect(try await run("--version").output == "1.0-dev\n")
    #expect(try await run("--help").output.contains("SUBCOMMANDS"))
    #expect(try await run("frobnicate").code == 2)
    try fixture.home.write("text", to: "file")
    let closed = try await run(program.command + " --store file")
    #expect(closed.code == 3 && closed.output == "" && closed.error.contains("\nhint: "))
    let outcome = try await run(program.command)
    #expect(outcome.code == 0 && outcome.error == "")
    #expect(outcome.output.contains("  larder \(program.folder.lowercased()).larder -e "))
    let logged = try await run(program.looked + " --log")
    #expect([": disk, ", ": hit, "].contains { logged.error.contains($0) }, "\(logged)")
    // A store name with a blank is quoted in the output.
    let tested = TestedProgram(program.name, store: "my store")
    let suggestions = try await tested.run(program.command).suggestions
    #expect(suggestions.count >= 2)
    for line in suggestions {
      let answer = try await Outcome(line: line)
      #expect(answer.code == 0 && answer.error.isEmpty && !answer.output.isEmpty, "\(answer)")
    }
    let file = URL(filePath: tested.store + "/data.mdb")
    try FileHandle(forWritingTo: file).truncate(atOffset: 4096)
    try await tested.check("\(program.command) = 3")
  }

  /// Tests of Larder cover the eviction that these rules refuse.
  @Test(arguments: Program.all.filter { !$0.userData.isEmpty })
  func `what belongs to the user is never evicted`(program: Program) async throws {
    let tested = TestedProgram(program.name)
    for command in [program.command, program.choice] { try await tested.check(command) }
    let store = try Store(at: tested.store)
    for name in program.userData {
      let stored = try store.namespaces().filter { $0.name.hasPrefix(name) && $0.entries > 0 }
      #expect(stored.map(\.declared) == [.userData], "\(name)")
    }
    try store.finish()
  }

  @Test(arguments: Program.all, [400, 401])
  func `a refusal is exit code 5, with a hint`(program: Program, status: Int) async throws {
    try await LocalServer.run { server in
      server.become { _ in .init(status, text: #"{"message": "no"}"#) }
      try await TestedProgram(program.name).check(
        "\(program.asks) \(server.base) = 5 | ! answered \(status) | ! hint: ")
    }
  }

  /// Tests of Larder cover loads of values by several processes.
  @Test func `six processes at once ask for each page once`() async throws {
    let tested = TestedProgram("larder-catalog")
    try await LocalServer.run { server in
      // The server answers only after each process has opened the store and is about to ask.
      let seen = Mutex(Set<Int>())
      try server.replay("Catalog/Sample") {
        try await waitUntil {
          let readers = try Store(at: tested.store).statistics().readers
          return seen.withLock {
            $0.formUnion(readers.map(\.process))
            return $0.subtracting([Int(getpid())]).count >= 6
          }
        }
        try await Task.sleep(for: .milliseconds(500))
      }
      let command = "list --limit 5 --server \(server.base)/api"
      try await inTasks(6) { _ in
        let outcome = try await tested.run(command)
        #expect(outcome.code == 0 && !outcome.output.isEmpty, "\(outcome)")
      }
      let paths = server.received.map(\.path)
      #expect(!paths.isEmpty && Set(paths).count == paths.count, "\(paths)")
    }
    try Store(at: tested.store).finish()
  }

  @Test(arguments: Program.all, ServerFault.allCases)
  func `a server's fault is an error in words`(program: Program, fault: ServerFault) async throws {
    let tested = TestedProgram(program.name)
    let outcome = try await fault.serve { try await tested.run("\(program.asks) \($0)") }
    #expect([1, 4].contains(outcome.code), "\(outcome)")
    #expect(!outcome.error.isEmpty && !outcome.error.contains("DecodingError"), "\(outcome)")
    #expect(fault != .webPage || outcome.error.contains("login page"), "\(outcome)")
    try Store(at: tested.store).finish()
  }

  @Test(arguments: Program.all)
  func `recorded commands work, and errors have their codes`(program: Program) async throws {
    try await TestedProgram(program.name).check(
      Repository.text("Examples/\(program.folder)/Sample/commands.txt"))
  }

  @Test(arguments: Program.all)
  func `the session on the page works`(program: Program) async throws {
    let page = Transcript(document: try Repository.text("Examples/\(program.folder)/README.md"))
    #expect(!page.steps.isEmpty)
    let fixture = ProgramFixture()
    for step in page.steps {
      let outcome = try await Outcome(line: step.command, in: fixture)
      #expect(outcome.code == 0 && step.accepts(outcome.output), "\(step.command): \(outcome)")
    }
  }
}
