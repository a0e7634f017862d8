import Articles
import ExampleTesting
import Foundation
import Larder
import Testing

/// The built program, from outside, over the recording in the repository.
@Suite struct ProgramTests {
  private let program: TestedProgram
  private var store: String { program.store }

  init() throws { program = try TestedProgram("larder-articles", store: "my articles") }

  private func run(_ arguments: String...) async throws -> Outcome {
    try await Outcome(of: ["larder-articles"] + arguments + ["--store", store])
  }

  /// The program says how to look at what it stored: that is true.
  private func expectClosing(of outcome: Outcome, _ count: Int) async throws {
    let answers = try await program.lastAnswers(of: outcome)
    #expect(answers.count == count && !answers.contains(""))
  }

  @Test func `the recorded articles are kept and listed without a network`() async throws {
    let first = try await run("sync", "--offline")
    #expect(first.code == 0 && first.error == "", "no progress where nobody watches")
    #expect(
      first.output.hasPrefix(
        "6 of 6 articles: done\n6 fetched, 0 there already, 0 failed, 5 images fetched\n"))
    try await expectClosing(of: first, 3)
    let second = try await run("sync", "--offline")
    #expect(second.output.hasPrefix("6 of 6 articles: nothing new\n"))

    // No server is asked: there is none at this address.
    let list = try await run("list", "--server", "http://127.0.0.1:1")
    #expect(list.code == 0 && list.output.contains("\n6 articles\n"))
    #expect(list.output.contains("kept    https://notes.example/untitled\n"))
    try await expectClosing(of: list, 2)
    let online = try await run("list", "--online", "--server", "http://127.0.0.1:1")
    #expect(online.error == "there is no network: this is what is kept\n")
    #expect(online.output == list.output)

    let shown = try await run("show", "Kx7QmZ3vT9sLw2RbY5nHd1", "--server", "http://127.0.0.1:1")
    #expect(shown.code == 0 && shown.output.hasPrefix("<section lang=\"en\">"))
    let status = try await run("status")
    #expect(status.output.hasPrefix("6 articles, 1.5 kB of HTML and 550 B of images\nlast sync 20"))
    try await expectClosing(of: status, 2)
  }

  @Test func `everything as JSON`() async throws {
    struct Report: Decodable {
      var outcome: SyncResult.Outcome
      var result: SyncResult
      var usage: ArticleUsage
    }
    struct Line: Decodable {
      var id: String
      var title: String
      var isKept: Bool
      var images: Int?
    }
    let report = try await program.answer(Report.self, "sync", "--offline")
    #expect(report.outcome == .done && report.result.images == 5 && report.usage.articles == 6)
    let lines = try await program.answer([Line].self, "list")
    #expect(lines.map(\.images) == [2, 0, 2, 3, 0, 0] && lines.allSatisfy(\.isKept))
    #expect(try await program.answer(ArticleUsage.self, "status").articles == 6)
    let settings = try await program.answer(
      OfflineSettings.self, "settings", "--articles", "30", "--no-images")
    #expect(settings == OfflineSettings(articles: 30, keepsImages: false))
    #expect(try await program.answer(OfflineSettings.self, "settings") == settings)
    #expect(try await program.answer(ArticleUsage.self, "status").imageBytes == 0)
    let left = try await program.answer(ArticleUsage.self, "sign-out")
    #expect(left.articles == 6 && left.images == 0 && left.lastSync != nil, "what was forgotten")
    #expect(try await program.answer(ArticleUsage.self, "status").articles == 0)
  }

  @Test func `an article that is shown has its images when the program ends`() async throws {
    let shown = try await run("show", "Kx7QmZ3vT9sLw2RbY5nHd1", "--offline")
    #expect(shown.code == 0 && shown.error == "" && shown.output.hasPrefix("<section"))
    #expect(try await run("status").output.hasPrefix("1 article, "))
    let left = try Store(at: store)
    #expect(try left.namespace("articles.images").count() == 2)
    try left.close()
  }

  @Test func `settings are shown and changed, signing out forgets the rest`() async throws {
    _ = try await run("sync", "--offline")
    let changed = try await run("settings", "--articles", "0")
    #expect(changed.code == 0 && changed.output.contains("\narticles         0\n"))
    try await expectClosing(of: changed, 2)
    #expect(try await run("list").output == "0 articles\n")
    #expect(try await run("settings", "--no-on").code == 0)
    let off = try await run("sync", "--offline")
    #expect(off.code == 5 && off.error.hasPrefix("error: reading offline is switched off\nhint: "))
    let out = try await run("sign-out")
    #expect(
      out.code == 0 && out.output.hasPrefix("nothing is kept any more\nforgotten: 0 articles"))
    try await expectClosing(of: out, 1)
    #expect(try await run("settings").output.hasPrefix("offline reading  off\n"))
  }

  @Test func `only when a sync is due`() async throws {
    #expect(try await run("sync", "--offline", "--if-due").output.hasPrefix("6 of 6"))
    let again = try await run("sync", "--offline", "--if-due")
    #expect(again.code == 0 && again.output == "the last sync is less than four hours ago\n")
  }

  @Test func `errors have their codes and say what to do`() async throws {
    let lost = try await run("sync", "--server", "http://127.0.0.1:1")
    #expect(lost.code == 4 && lost.output == "")
    #expect(lost.error.hasPrefix("error: the service cannot be reached: "))
    #expect(lost.error.contains("\nhint: run it again"))
    let none = try await run("list", "--online", "--server", "http://127.0.0.1:1")
    #expect(none.code == 4 && none.error.hasPrefix("error: there is no network, and no article"))
    let absent = try await run("show", "nosuch", "--offline")
    #expect(absent.code == 1 && absent.error.hasPrefix("error: the service answered 404"))
    #expect(try await run("settings", "--articles", "25").code == 2)
    #expect(try await run("settings", "--image-megabytes", "49").code == 2)
    #expect(try await run("sync", "--offline", "--recording", "/absent").code == 2)
    #expect(try await Outcome(of: ["larder-articles", "sync"]).code == 2)
    let help = try await Outcome(of: ["larder-articles", "sync", "--help"])
    #expect(help.code == 0 && help.output.contains("--recording"))
    let file = try program.folder.write("file", Array("text".utf8))
    #expect(try await Outcome(of: ["larder-articles", "list", "--store", file]).code == 3)
  }

  @Test func `the session on the page is what happens`() async throws {
    let page = try PageSession(of: "Articles/README.md")
    #expect(page.steps.count == 12)
    #expect(try await page.surprises(in: program.folder.url) == [])
  }

  @Test(.enabled(if: Outcome.canFakeTerminal, "skipped: no script command"))
  func `at a terminal it tells how far it is`() async throws {
    let outcome = try await Outcome(
      atTerminal: ["larder-articles", "sync", "--offline", "--store", store])
    #expect(outcome.code == 0)
    let pieces = outcome.output.components(separatedBy: "\r\u{1B}[K")
    #expect(pieces.count >= 3 && pieces[1].hasPrefix("articles"))
    #expect(pieces.last?.hasPrefix("6 of 6 articles: done") == true)
  }
}
