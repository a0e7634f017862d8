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
    version: exampleVersion,
    subcommands: [
      Sync.self, ListArticles.self, ShowArticle.self, EditArticle.self, Settings.self, SignOut.self,
    ])

  static func main() async {
    await Failure.run(Self.self, credential: "--token or READECK_TOKEN") { error in
      switch error as? ArticlesError {
      case .off: Failure(.refused, "\(error)", hint: "larder-articles settings --on switches it on")
      case .nothingStored:
        Failure(.failed, "\(error)", hint: "run larder-articles sync when there is a network")
      case .ended: Failure(.refused, "\(error)", hint: "run it again to store articles")
      case nil: nil
      }
    }
  }
}

/// The user, the server and the store.
struct Account: ParsableArguments {
  @OptionGroup var place: Place
  @Option(help: "Your server's API.") var server = NonEmpty("https://readeck.example.org/api")

  @Option(
    help: """
      The user's token at the server. Default: the variable READECK_TOKEN. Each token at each server has its own articles \
      and settings.
      """)
  var token: String?

  /// Opens the store, calls `body`, waits for the images of opened articles, and closes the store.
  func open<Result>(_ body: (ArticleReader) async throws -> Result) async throws -> Result {
    try await place.open { store, transport in
      let reader = ArticleReader(
        in: store, at: base, token: credential, over: transport, log: place.log,
        report: { Console.complain("\($0)") })
      let result = try await body(reader)
      await reader.finish()
      return result
    }
  }

  /// A recording is nobody's: its articles, and the changes of them, stay apart from those of the user.
  private var base: String {
    place.recording.offline ? RecordingOption.address + "/api" : server.text
  }

  private var credential: String {
    if place.recording.offline { return "" }
    return (token ?? ProcessInfo.processInfo.environment["READECK_TOKEN"] ?? "").trimmingBlanks
  }

  /// Prints the result of a command, and `larder` commands in which `@` stands for the namespace of articles.
  func show(
    _ value: some Encodable, closing commands: [String] = [],
    _ rows: @autoclosure () throws -> [String]
  ) throws {
    let store = try place.store.open()
    let name = "@" + ServiceRealm(base: base, credential: credential).name("articles", in: store)
    try place.store.show(
      value, closing: commands.map { $0.replacing("@", with: name) }, rows())
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
    let ended: (result: SyncResult, usage: ArticleUsage)? = try await account.open { reader in
      guard let run = ifDue ? try reader.syncIfDue() : try reader.sync() else { return nil }
      let line = ProgressLine.atTerminal
      for await step in run { line?.advance("articles", done: step.done, of: step.total) }
      line?.clear()
      return (await run.result(), try reader.usage())
    }
    guard let (result, usage) = ended else {
      let reason = "offline reading is off, or the last sync was less than four hours ago"
      return try account.show(ended?.result, [reason])
    }
    let isFailure = result.isStopped || result.outcome == .failed
    if result.outcome != .failed || account.place.store.json {
      let counts =
        "\(result.stored) fetched, \(result.skipped) stored before, \(result.failed) failed, "
        + "\(result.images.counted("image")) fetched, \(result.removed) removed"
      let sent = result.edits.sent > 0 ? ["\(result.edits.sent.counted("change")) sent"] : []
      try account.show(
        result, closing: ["keys @ --limit 5", "namespaces"],
        [result.text, counts] + sent + [usage.text])
    }
    for reason in result.unreadable { Console.complain("left out: \(reason)") }
    for reason in isFailure ? [] : result.failures { Console.complain("failed: \(reason)") }
    result.edits.complain()
    if isFailure {
      throw Failure(
        result.isRefused ? .refused : .failed,
        result.reason ?? result.failures.first ?? "nothing could be stored",
        hint: result.isRefused
          ? "check the address, --server, and the credential, --token or READECK_TOKEN"
          : "run it again: stored articles stay; --server names your server")
    }
    try result.edits.check()
    if result.failed > 0 || result.edits.left > 0 { throw ExitCode(Failure.Code.failed.rawValue) }
  }
}
