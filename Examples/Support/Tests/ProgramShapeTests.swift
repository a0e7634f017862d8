import ExampleProgram
import ExampleTesting
import Foundation
import Synchronization

/// Tests of all programs, from outside.
@Suite struct ProgramShapeTests {
  struct Program: Sendable, CustomTestStringConvertible {
    var name: String
    /// A command with progress, over the recording; and one that finds in the store what that one has stored.
    var command: String
    var looked: String
    /// The beginning of its progress line, and of its output.
    var progress: String
    var output: String
    /// Commands that ask the service for one thing, for a list, and for several pages: without the service's address at their end.
    var asks: String
    var lists: String
    var pages: String
    /// The folder of the recording, and the path of the service in it.
    var recording: String
    var path = ""
    var credential: String?
    /// A command that saves a choice of the user, and the namespaces of what belongs to the user.
    var choice = ""
    var userData: [String] = []
    var realm = ServiceRealm.open

    var testDescription: String { name }
    var page: String { String(recording.prefix { $0 != "/" }) }

    static let all = [
      Program(
        name: "larder-lego", command: "refresh colors --offline",
        looked: "fetch color 4 --offline --no-network", progress: "colors ",
        output: "        listed", asks: "fetch color 4 --base", lists: "list parts x --base",
        pages: "refresh themes --key k --base", recording: "Lego/Recording", path: "/api/v3",
        credential: "--key"),
      Program(
        name: "larder-articles", command: "sync --offline",
        looked: "show Kx7QmZ3vT9sLw2RbY5nHd1 --offline --no-network", progress: "articles",
        output: "6 of 6 articles: done", asks: "sync --server", lists: "sync --server",
        pages: "sync --server", recording: "Articles/Sample", path: "/api", credential: "--token",
        choice: "settings --articles 10 --offline",
        userData: ["articles.settings", "articles.sync"],
        realm: ServiceRealm(base: RecordingOption.address + "/api", credential: "")),
      Program(
        name: "larder-catalog", command: "list --offline", looked: "list --offline --no-network",
        progress: "pages", output: "Rest", asks: "list --server", lists: "list --refresh --server",
        pages: "list --limit 5 --server", recording: "Catalog/Sample", path: "/api",
        credential: "--token", choice: "list --offline --tier plus",
        userData: ["catalog.filters", "catalog.sessions"]),
      Program(
        name: "larder-departures", command: "favourites 8503651 8503669 --offline",
        looked: "board 8503651 --offline", progress: "boards ", output: "2 loaded, 0 fresh",
        asks: "board 1 --base", lists: "search x --base",
        pages: "favourites 8503651 8503669 --now 2025-07-12T08:30:00+0200 --base",
        recording: "Departures/Sample", choice: "favourites --rows 2 --offline",
        userData: ["boat.settings"],
        realm: ServiceRealm(base: RecordingOption.address, credential: "")),
    ]
  }

  @Test(arguments: Program.all)
  func `version, help, a default store, and closing lines that work`(program: Program) async throws
  {
    let folder = try TemporaryFolder()
    func run(_ line: String) async throws -> Outcome {
      try await Outcome(line: "cd '\(folder.url.path)' && \(program.name) \(line)")
    }
    #expect(try await run("--version").output == "1.0-dev\n")
    #expect(try await run("--help").output.contains("SUBCOMMANDS"))
    #expect(try await run("frobnicate").code == 2)
    let unnamed = try await run(program.command + " --store ''")
    #expect(unnamed.code == 2 && unnamed.error.contains("the store has no name"))
    let outcome = try await run(program.command)
    #expect(outcome.code == 0 && outcome.error == "", "no progress without a terminal")
    let store = program.name.dropFirst("larder-".count) + ".larder"
    #expect(outcome.output.contains("  larder \(store) -e "))
    #expect(FileManager.default.fileExists(atPath: folder.url.path + "/" + store))
    // A name with a blank is quoted.
    let tested = try TestedProgram(program.name, store: "my store")
    let answers = try await tested.lastAnswers(of: tested.run(line: program.command))
    #expect(answers.count >= 2 && !answers.contains(""), "\(answers)")
  }

  @Test(arguments: Program.all)
  func `each program logs its hits and misses`(program: Program) async throws {
    let tested = try TestedProgram(program.name, store: "store")
    let first = try await tested.run(line: program.command + " --log")
    #expect(first.code == 0)
    #expect(
      ["from the service, 200", ": loaded, "].contains { first.error.contains($0) }, "\(first)")
    let again = try await tested.run(line: program.looked + " --log")
    #expect([": disk, ", ": hit, "].contains { again.error.contains($0) }, "\(again)")
  }

  @Test(arguments: Program.all.filter { !$0.userData.isEmpty })
  func `what belongs to the user is never evicted`(program: Program) async throws {
    let tested = try TestedProgram(program.name, store: "store")
    for command in [program.command, program.choice] {
      #expect(try await tested.run(line: command).code == 0)
    }
    let store = try Store(at: tested.store)
    func counts() throws -> [Int] {
      try program.userData.map {
        try store.namespace(program.realm.name($0, in: store)).count()
      }
    }
    let before = try counts()
    #expect(!before.contains(0), "\(before)")
    try store.declare(StoreLimits(disk: 4_000_000))
    for number in 0..<200 {
      try await store.namespace("others").set(
        [UInt8](repeating: 1, count: 50_000), for: "\(number)")
    }
    #expect(try counts() == before && store.namespace("others").count() < 200)
    try store.finish()
  }

  @Test(arguments: Program.all)
  func `exit code 3 for no store and for one that cannot be written, 2 for no recording`(
    program: Program
  ) async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("file", Array("text".utf8))
    let closed = try await Outcome(line: "\(program.name) \(program.command) --store \(file)")
    #expect(closed.code == 3 && closed.output == "" && closed.error.contains("\nhint: "))
    let path = folder.url.path
    let command = "\(program.name) \(program.command) --store \(path)/store"
    let absent = try await Outcome(line: command + " --recording /absent")
    #expect(absent.code == 2 && !absent.error.contains("NSCocoa"), "\(absent)")
    guard Outcome.canMount else { return }
    #expect(try await Outcome(line: command).code == 0)
    let outcome = try await Outcome(
      line: "unshare -rm sh -c 'mount -o bind,ro \(path) \(path) && \(command)'")
    #expect(
      outcome.code == 3 && outcome.error.hasSuffix("and name it with --store\n"), "\(outcome)")
  }

  @Test(arguments: Program.all, [401, 403, 404])
  func `a refusal is exit code 5, with a hint where there is one`(program: Program, status: Int)
    async throws
  {
    let tested = try TestedProgram(program.name, store: "store")
    try await LocalServer.run { server in
      server.become { _ in .init(status, text: #"{"message": "no", "detail": "no"}"#) }
      let command = status == 404 ? program.lists : program.asks
      let outcome = try await tested.run(line: "\(command) \(server.base)")
      #expect(outcome.code == 5 && outcome.error.contains("answered \(status)"), "\(outcome)")
      let hint = status == 404 ? "the address" : program.credential ?? ""
      #expect(outcome.error.contains("hint: ") == (hint != ""), "the timetable has no credential")
      #expect(hint == "" || outcome.error.contains(hint), "\(outcome)")
    }
  }

  @Test(arguments: Program.all)
  func `six processes at once ask for each page once`(program: Program) async throws {
    let tested = try TestedProgram(program.name, store: "store")
    try await LocalServer.run { server in
      // The answers wait until each process has the store open and is about to ask.
      let seen = Mutex(Set<Int>())
      try server.replay(program.recording) {
        try await waitUntil {
          let readers = try Store(at: tested.store).statistics().readers
          return seen.withLock {
            $0.formUnion(readers.map(\.process))
            return $0.subtracting([Int(getpid())]).count >= 6
          }
        }
        try await Task.sleep(for: .milliseconds(500))
      }
      let command = program.pages + " " + server.base + program.path
      let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
        for _ in 1...6 { group.addTask { try await tested.run(line: command) } }
        return try await group.reduce(into: [Outcome]()) { $0.append($1) }
      }
      #expect(outcomes.allSatisfy { $0.code == 0 && !$0.output.isEmpty }, "\(outcomes)")
      // Each sync begins with the list, because it may have changed.
      let paths = server.received.map(\.path).filter { !$0.hasPrefix("/api/bookmarks?") }
      #expect(!paths.isEmpty && Set(paths).count == paths.count, "\(paths)")
    }
    try Store(at: tested.store).finish()
  }

  @Test(arguments: Program.all)
  func `a login page of the network is not stored`(program: Program) async throws {
    let tested = try TestedProgram(program.name, store: "store")
    try await LocalServer.run { server in
      server.become { _ in
        .init(
          200, ["Content-Type": "text/html", "Cache-Control": "max-age=600"],
          text: "<html>Please log in</html>")
      }
      let outcome = try await tested.run(line: "\(program.asks) \(server.base)")
      #expect(outcome.code == 4, "\(outcome)")
      #expect(outcome.error.contains("login page") && !outcome.error.contains("Decoding"))
      let count = server.count
      #expect(try await tested.run(line: "\(program.asks) \(server.base)").code == 4)
      #expect(server.count > count, "nothing of it was stored")
    }
  }

  @Test(arguments: Program.all, ServerFault.allCases)
  func `a misbehaving server is an error in words`(program: Program, fault: ServerFault)
    async throws
  {
    let tested = try TestedProgram(program.name, store: "store")
    let outcome = try await fault.serve { base in
      try await tested.run(line: "\(program.asks) \(base)")
    }
    // An article list of a wrong form is a failed sync; all others end with a message too.
    #expect([1, 4].contains(outcome.code), "\(outcome)")
    #expect(!outcome.error.isEmpty && !outcome.error.contains("NSURL"), "\(outcome)")
    #expect(!outcome.error.contains("DecodingError") && !outcome.error.contains("Swift."))
    try Store(at: tested.store).finish()
  }

  @Test(arguments: Program.all)
  func `without a service the reason is in words`(program: Program) async throws {
    let tested = try TestedProgram(program.name, store: "store")
    let outcome = try await tested.run(line: program.asks + " http://127.0.0.1:1")
    #expect(outcome.code == 4 && outcome.error.contains("cannot be reached"), "\(outcome)")
    #expect(!outcome.error.contains("NSURL"))
    let without = try await tested.run(line: program.asks + " http://127.0.0.1:1 --no-network")
    #expect(without.code == 4 && without.error.contains("there is no network\nhint: "))
    #expect(!without.error.contains("--no-network uses"), "it was given: \(without)")
  }

  @Test(.enabled(if: Outcome.canFakeTerminal, "skipped: no script command"), arguments: Program.all)
  func `at a terminal it shows its progress`(program: Program) async throws {
    let folder = try TemporaryFolder()
    let outcome = try await Outcome(
      atTerminal: [program.name] + program.command.split(separator: " ").map(String.init)
        + ["--store", folder.url.path + "/store"])
    #expect(outcome.code == 0)
    let pieces = outcome.output.components(separatedBy: "\r\u{1B}[K")
    #expect(pieces.count >= 3 && pieces[1].hasPrefix(program.progress), "\(pieces)")
    // What a terminal of 40 columns cannot show is cut: a wrapped line could not be erased.
    let lines = pieces.dropFirst().dropLast()
    #expect(lines.allSatisfy { $0.contains("\u{1B}[?7h") }, "\(pieces)")
    #expect(pieces.last?.contains(program.output) == true, "\(pieces)")
  }

  @Test(arguments: Program.all)
  func `every session on the page of the example happens as shown`(program: Program) async throws {
    let folder = try TemporaryFolder()
    let page = try PageSession(of: "\(program.page)/README.md")
    #expect(page.steps.count >= 1)
    try await page.check(in: folder.url)
  }

  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "skipped: no full device"),
    arguments: Program.all)
  func `output that cannot be written is an error, but for a reader that has gone`(
    program: Program
  ) async throws {
    let folder = try TemporaryFolder()
    let silent = try await Outcome(line: "\(program.name) frobnicate 2>/dev/full")
    #expect(silent.code == 2, "nobody can be told")
    let command = program.command
    for arguments in [command, "\(command) --json", "--help", "--version"] {
      let run = "cd '\(folder.url.path)' && \(program.name) \(arguments)"
      let full = try await Outcome(line: "\(run) >/dev/full")
      #expect(full.code == 4, "\(arguments): \(full)")
      #expect(full.error == "error: standard output cannot be written: No space left on device\n")
      for ignored in ["", "trap '' PIPE; "] {
        // The reader ends at once.
        let gone = try await Outcome(line: "\(ignored)\(run) | true")
        #expect(gone.error == "", "\(arguments)")
      }
    }
  }

  @Test(arguments: Program.all)
  func `an empty address is a usage error`(program: Program) async throws {
    let tested = try TestedProgram(program.name, store: "store")
    let outcome = try await tested.run(line: program.asks + " ''")
    #expect(outcome.code == 2 && outcome.error.contains("The value '' is invalid"), "\(outcome)")
    let help = try await Outcome(
      line: "\(program.name) \(program.asks.prefix { $0 != " " }) --help")
    #expect(program.page == "Departures" || help.output.contains(" https://"))
  }

  @Test(arguments: Program.all)
  func `an address in capitals with a slash at its end is the same, as is a credential with blanks`(
    program: Program
  ) async throws {
    let tested = try TestedProgram(program.name, store: "store")
    try await LocalServer.run { server in
      server.become { _ in .init(401) }
      for (address, credential) in [
        (server.base, "abc"), (server.base.replacing("http", with: "HTTP") + "/", " abc\n"),
      ] {
        let options = program.credential.map { "\($0) '\(credential)'" } ?? ""
        let outcome = try await tested.run(line: "\(program.asks) \(address) \(options)")
        #expect(outcome.code == 5, "\(outcome)")
      }
      let asked = server.received.map { [$0.path, $0.fields["authorization"]] }
      #expect(asked.count.isMultiple(of: 2) && !asked.isEmpty, "\(asked)")
      #expect(asked.prefix(asked.count / 2) == asked.suffix(asked.count / 2), "\(asked)")
    }
  }
}
