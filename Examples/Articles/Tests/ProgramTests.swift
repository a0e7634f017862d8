import Articles
import ExampleTesting
import Foundation
import Larder
import Testing

/// The built program, from outside, over the recording in the repository.
@Suite struct ProgramTests {
  private let program: TestedProgram

  init() throws { program = try TestedProgram("larder-articles", store: "my articles") }

  private func run(_ arguments: String...) async throws -> Outcome {
    try await program.run(arguments)
  }

  @Test func `the recorded articles are listed and opened without a network`() async throws {
    _ = try await run("sync", "--offline")
    #expect(try await run("sync", "--offline").output.hasPrefix("6 of 6 articles: nothing new\n"))
    let list = try await run("list", "--no-network")
    #expect(list.code == 0 && list.output.contains("\n6 articles\n"))
    #expect(list.output.contains("kept    https://notes.example/untitled\n"))
    #expect(try await program.lastAnswers(of: list).count == 2)
    let online = try await run("list", "--online", "--no-network")
    #expect(online.error == "there is no network: these are the stored articles\n")
    #expect(online.output == list.output)
    #expect(try await run("list", "FERRY").output.contains("\n1 article\n"))
  }

  @Test func `everything as JSON`() async throws {
    struct Report: Decodable {
      var outcome: SyncResult.Outcome
      var result: SyncResult
      var usage: ArticleUsage
    }
    struct Line: Decodable {
      var id: String
      var isKept: Bool
      var images: Int?
    }
    let settings = try await program.answer(
      OfflineSettings.self, "settings", "--articles", "30", "--images")
    #expect(settings == OfflineSettings(articles: 30, keepsImages: true))
    let report = try await program.answer(Report.self, "sync", "--offline")
    #expect(report.outcome == .done && report.result.images == 5 && report.usage.articles == 6)
    let lines = try await program.answer([Line].self, "list")
    #expect(lines.map(\.images) == [2, 0, 2, 3, 0, 0] && lines.allSatisfy(\.isKept))
    #expect(try await program.answer(OfflineSettings.self, "settings") == settings)
    _ = try await program.answer(OfflineSettings.self, "settings", "--no-images")
    #expect(try await program.answer(ArticleUsage.self, "status").imageBytes == 0)
    let left = try await program.answer(ArticleUsage.self, "sign-out")
    #expect(left.articles == 6 && left.images == 0 && left.lastSync != nil)
    #expect(try await program.answer(ArticleUsage.self, "status").articles == 0)
  }

  @Test func `an opened article has its images when the program ends`() async throws {
    _ = try await run("settings", "--images")
    let shown = try await run("show", "Kx7QmZ3vT9sLw2RbY5nHd1", "--offline")
    #expect(shown.code == 0 && shown.error == "" && shown.output.hasPrefix("<section"))
    #expect(try await run("status").output.hasPrefix("1 article, 446 B of HTML and 223 B of"))
  }

  @Test func `changes wait for the network and are listed`() async throws {
    _ = try await run("sync", "--offline")
    let edit = try await run("edit", "mark", "Kx7QmZ3vT9sLw2RbY5nHd1", "--no-network")
    #expect(edit.code == 0)
    #expect(try await run("outbox").output.contains("mark \"The ferry that waits"))
    #expect(try await run("list").output.contains("* The ferry that waits"))
    #expect(try await run("status").output.contains("1 change not sent yet"))
    #expect(try await run("edit", "burn", "x").code == 2)
  }

  @Test func `settings stay after signing out, and off is off`() async throws {
    _ = try await run("sync", "--offline")
    #expect(try await run("settings", "--articles", "0").output.contains("\narticles         0\n"))
    #expect(try await run("list").output == "0 articles\n")
    #expect(try await run("settings", "--no-on").code == 0)
    let off = try await run("sync", "--offline")
    #expect(off.code == 5 && off.error.hasPrefix("error: offline reading is switched off\nhint: "))
    let due = try await run("sync", "--offline", "--if-due")
    #expect(due.code == 0 && due.output == "offline reading is switched off\n")
    #expect(try await run("sign-out").output.hasPrefix("removed: 0 articles"))
    #expect(try await run("settings").output.hasPrefix("offline reading  off\n"))
  }

  @Test func `a sync that ends early has exit code 4, also if it stored something`() async throws {
    let readeck = FakeReadeck()
    readeck.fill(3)
    try await LocalServer.run { server in
      server.become { request in
        if server.count > 2 { return .init(429, ["Retry-After": "600"]) }
        return readeck.answer(request)
      }
      let lost = try await run(
        "sync", "--server", server.base + "/api", "--token", FakeReadeck.token)
      #expect(lost.code == 4 && lost.output.hasPrefix("1 of 3 articles: partial"), "\(lost)")
    }
    let gone = try await run("sync", "--no-network")
    #expect(gone.code == 4 && gone.output == "")
    #expect(gone.error.hasPrefix("error: the service cannot be reached: there is no network\nhint"))
  }

  @Test func `a title cannot command the terminal`() async throws {
    let readeck = FakeReadeck()
    readeck.fill(1)
    readeck.change(FakeReadeck.id(0)) { $0.title = "\u{1B}]0;mine\u{7}\u{9B}31m" }
    try await LocalServer.run { server in
      server.become { readeck.answer($0) }
      let list = try await run(
        "list", "--online", "--server", server.base + "/api", "--token", FakeReadeck.token)
      #expect(list.code == 0 && list.output.contains("\u{FFFD}]0;mine\u{FFFD}"), "\(list)")
      #expect(!list.output.contains("\u{1B}") && !list.output.contains("\u{9B}"))
    }
  }

  @Test func `articles have labels, and are fetched again when that is wanted`() async throws {
    let readeck = FakeReadeck()
    readeck.fill(2)
    try await LocalServer.run { server in
      server.become { readeck.answer($0) }
      let account = ["--server", server.base + "/api", "--token", FakeReadeck.token]
      #expect(try await program.run(["sync"] + account).code == 0)
      #expect(
        try await program.run(["list", "--label", "ferries"] + account).output.contains(
          "2 articles"))
      #expect(
        try await program.run(["list", "--label", "hats"] + account).output == "0 articles\n")
      readeck.change(FakeReadeck.id(0)) { ($0.html, $0.entityTag) = ("new", "2") }
      for (flags, html) in [([], "<section>0 </section>"), (["--refetch"], "new"), ([], "new")] {
        let shown = try await program.run(["show", FakeReadeck.id(0)] + flags + account)
        #expect(shown.output == html + "\n", "\(shown)")
      }
    }
  }

  @Test func `errors have their codes`() async throws {
    let none = try await run("list", "--online", "--no-network")
    #expect(none.code == 4 && none.error.hasPrefix("error: there is no network, and no article"))
    let absent = try await run("show", "nosuch", "--offline")
    #expect(absent.code == 1 && absent.error.hasPrefix("error: the service answered 404"))
    #expect(try await run("settings", "--articles", "25").code == 2)
    #expect(try await run("settings", "--image-megabytes", "49").code == 2)
    let site = try await run("site", "/proc/none")
    #expect(site.code == 4 && site.error.hasPrefix("error: cannot write to /proc/none"))
  }
}
