import ArgumentParser
import Articles
import ExampleProgram
import Foundation
import Larder
import LarderHTTP
import LarderURLSession
import Service

/// Where articles are kept, and where they come from.
struct Place: ParsableArguments {
  @Option(help: "The store; made if there is none.")
  var store: String

  @Option(help: "Your server's API; there is none at the default.")
  var server = Self.nobodysServer

  static let nobodysServer = "https://readeck.example.org/api"

  /// What to do when the server cannot be reached.
  var hintWhenOffline: String {
    server == Self.nobodysServer && !offline
      ? "name your server, --server https://read.example/api, or try --offline"
      : "run it again: what is there already stays"
  }

  @Option(help: "The user's token at the server; without it that in READECK_TOKEN.")
  var token: String?

  @Flag(help: "Ask no server: a recording answers in its place.")
  var offline = false

  @Option(
    help: """
      The recording: a folder with answers.json. Without it the sample that lies beside the program's source, if the \
      program was built from a checkout.
      """)
  var recording = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Sample").path

  /// Opens the store, lets `body` read, waits for images that come after an article, and closes it.
  func open<Result>(_ body: (ArticleReader) async throws -> Result) async throws -> Result {
    let transport = try transport()
    let store = try Store.opened(at: store)
    let cache = HTTPCache(
      in: store.namespace("articles.http"), over: transport, policy: Readeck.policy)
    let token = token ?? ProcessInfo.processInfo.environment["READECK_TOKEN"] ?? ""
    let reader = ArticleReader(
      in: store, at: Readeck(at: server, token: token, over: cache),
      report: { Console.complain("\($0)") })
    let result = try await body(reader)
    await reader.finish()
    try store.close()
    return result
  }

  private func transport() throws -> any HTTPTransport {
    guard offline else { return URLSessionTransport() }
    do {
      return try Recording(folder: recording)
    } catch {
      throw Failure(
        .usage, "\(recording) is no recording: \(error)",
        hint: "name a folder that has answers.json, such as Examples/Articles/Sample")
    }
  }

  func closing(_ commands: String...) -> String { Closing(store: store, commands: commands).text }
}
