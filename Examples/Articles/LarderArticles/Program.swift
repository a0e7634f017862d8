import ArgumentParser
import Articles
import ExampleProgram
import Foundation
import Larder
import Service

@main
struct LarderArticles: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "larder-articles",
    abstract: "Stores the unread articles of a readeck server, for reading without a network.",
    discussion: """
      Exit codes: 0 done, 1 no such article, 2 usage, 3 the store cannot be opened, 4 the server, the network or the store \
      failed, 5 refused, 130 interrupted.
      """,
    version: Store.version,
    subcommands: [
      Sync.self, ListArticles.self, ShowArticle.self, EditArticle.self, Settings.self, SignOut.self,
    ])

  static func main() async {
    await Failure.run(Self.self, credential: "--token or READECK_TOKEN") { error in
      guard case .off? = error as? ArticlesError else { return nil }
      return Failure(.refused, "\(error)", hint: "larder-articles settings --on switches it on")
    }
  }
}

struct Account: ParsableArguments {
  @OptionGroup var place: Place
  @Option(help: "Your server's API.") var server = "https://readeck.example.org/api"

  @Option(
    help: """
      The user's token at the server. Default: the variable READECK_TOKEN. Each token at each server has its own articles \
      and settings.
      """)
  var token: String?

  /// Opens the store and prints the rows of `body`. Then waits for the images of opened articles, and closes the store.
  func show(rows body: (ArticleReader) async throws -> [String]) async throws {
    try await place.open { store, transport in
      // A recording has no user, so the reader gets an empty token, which keeps its articles apart from the user's articles.
      let token = token ?? ProcessInfo.processInfo.environment["READECK_TOKEN"] ?? ""
      let reader = ArticleReader(
        in: store, at: place.offline ? Place.recording + "/api" : server,
        token: place.offline ? "" : token.trimmingBlanks, over: transport, log: place.log)
      try place.show(await body(reader))
      await reader.finish()
    }
  }
}

struct Sync: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Sends your changes, fetches missing and edited articles, and reports the result.",
    discussion: """
      After any interruption the next sync continues. Stored articles that the server does not list any more are removed. \
      The exit code is 4 if the network was lost, a change waits or an article could not be stored, and 5 if the server \
      refuses the user or has dropped a change.
      """)

  @OptionGroup var account: Account
  @Flag(help: "Only if the last sync was more than four hours ago.") var ifDue = false

  func run() async throws {
    var ended: SyncResult?
    try await account.show { reader in
      guard let run = ifDue ? try reader.syncIfDue() : try reader.sync() else {
        return ["offline reading is off, or the last sync was less than four hours ago"]
      }
      let result = await run.result()
      ended = result
      let counts =
        "\(result.stored) fetched, \(result.skipped) stored before, \(result.failed) failed, "
        + "\(result.images.counted("image")) fetched, \(result.removed) removed"
      let rows = [result.text, counts, "\(result.edits.sent) sent", try reader.usage().text]
      try account.place.show(rows, closing: ["keys @\(reader.name) --limit 5", "namespaces"])
      return []
    }
    guard let result = ended else { return }
    for reason in result.unreadable { Console.complain("left out: \(reason)") }
    result.edits.complain()
    for reason in result.failures { Console.complain("failed: \(reason)") }
    if let error = result.error { throw error }
    if !result.edits.conflicts.isEmpty { throw ExitCode(Failure.Code.refused.rawValue) }
    if result.outcome == .failed || result.failed > 0 || result.edits.left > 0 {
      throw ExitCode(Failure.Code.failed.rawValue)
    }
  }
}
