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
      Sync.self, ListArticles.self, ShowArticle.self, EditArticle.self, Outbox.self, Settings.self,
      Status.self, SignOut.self,
    ])

  static let credential = "--token or READECK_TOKEN"

  static func main() async {
    await Failure.run(Self.self, credential: credential) { error in
      switch error as? ArticlesError {
      case .off: Failure(.refused, "\(error)", hint: "larder-articles settings --on switches it on")
      case .nothingStored:
        Failure(.failed, "\(error)", hint: "run larder-articles sync when there is a network")
      case .ended: Failure(.refused, "\(error)", hint: "run it again to store articles")
      case .noArticle, .unknown:
        Failure(.noSuchKey, "\(error)", hint: "larder-articles list shows the stored articles")
      case .noPlace, nil: nil
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
      let readeck = Readeck(at: base, token: credential, over: transport, log: place.log)
      let reader = ArticleReader(in: store, at: readeck) { Console.complain("\($0)") }
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

  /// Prints the result of a command; see ``StoreOption``.
  func show(
    _ value: some Encodable, closing commands: [String] = [],
    _ rows: @autoclosure () throws -> [String]
  ) throws {
    try place.store.show(value, closing: commands, rows())
  }

  /// A namespace of this user, for commands of `larder`.
  func namespace(_ name: String) throws -> String {
    // Each store has names of its own. Another part of the program may still write to it, so this does not close it.
    let store = try place.store.open()
    return "@" + Realm(base: base, credential: credential).name(name, in: store)
  }
}

struct Sync: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Sends your changes, fetches missing and edited articles, and reports the result.",
    discussion: """
      After any interruption the next sync continues. Stored articles that were archived or deleted elsewhere are removed. \
      The exit code is 4 if the network was lost, a change waits or an article could not be stored, and 5 if the server \
      refuses the user or has dropped a change.
      """)

  @OptionGroup var account: Account
  @Flag(help: "Only if the last sync was more than four hours ago.") var ifDue = false

  private struct Report: Encodable {
    var outcome: SyncResult.Outcome
    var result: SyncResult
    var usage: ArticleUsage
  }

  func run() async throws {
    let (report, isOff): (Report?, Bool) = try await account.open { reader in
      guard let run = ifDue ? try reader.syncIfDue() : try reader.sync() else {
        return (nil, try !reader.settings().isOn)
      }
      let line = ProgressLine.atTerminal
      for await step in run {
        line?.advance(step.isSending ? "changes" : "articles", done: step.done, of: step.total)
      }
      line?.clear()
      let result = await run.result()
      return (Report(outcome: result.outcome, result: result, usage: try reader.usage()), false)
    }
    guard let report else {
      let reason =
        isOff ? "offline reading is switched off" : "the last sync was less than four hours ago"
      return try account.show(report, [reason])
    }
    let result = report.result
    let failure = Failure(
      result.isRefused ? .refused : .failed,
      result.reason ?? result.failures.first ?? "nothing could be stored",
      hint: result.isRefused
        ? "check the address, --server, and the credential, --token or READECK_TOKEN"
        : result.withoutRoom > 0
          ? "raise the store's limit, or store fewer: larder-articles settings --articles 10"
          : "run it again: stored articles stay; --server names your server")
    if report.outcome != .failed || account.place.store.json {
      try account.show(report, closing: try looks(report), rows(report))
    }
    for reason in result.unreadable + result.imagesLeftOut {
      Console.complain("left out: \(reason)")
    }
    let isFailure = result.isStopped || report.outcome == .failed
    for reason in result.failures where !isFailure || reason != failure.message {
      Console.complain("failed: \(reason)")
    }
    for conflict in result.edits.conflicts { Console.complain("not sent: \(conflict)") }
    for reason in result.edits.reasons { Console.complain("not sent yet: \(reason)") }
    if isFailure { throw failure }
    try result.edits.check()
    if result.failed > 0 || result.edits.left > 0 { throw ExitCode(Failure.Code.failed.rawValue) }
  }

  private func rows(_ report: Report) -> [String] {
    let result = report.result
    let counts =
      "\(result.stored) fetched, \(result.skipped) stored before, \(result.failed) failed, "
      + "\(result.images.counted("image")) fetched"
    let sent = result.edits.sent > 0 ? ["\(result.edits.sent.counted("change")) sent"] : []
    let removed =
      result.removed > 0
      ? ["\(result.removed.counted("article")) removed: archived or deleted elsewhere"]
      : []
    let reason = result.reason.map { ["reason: \($0)"] } ?? []
    return [result.text, counts] + sent + removed + [report.usage.text] + reason
  }

  private func looks(_ report: Report) throws -> [String] {
    let names = ["articles"] + (report.usage.images > 0 ? ["articles.images"] : [])
    return try names.map { "keys \(try account.namespace($0)) --limit 5" } + ["namespaces"]
  }
}
