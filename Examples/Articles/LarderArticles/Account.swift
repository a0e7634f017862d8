import ArgumentParser
import Articles
import ExampleProgram
import Foundation
import Larder
import LarderHTTP

/// Whose articles they are, where they come from, and where they are kept.
struct Account: ParsableArguments {
  @OptionGroup var place: Place

  @Option(help: "Your server's API; nobody answers at the default.")
  var server = "https://readeck.example.org/api"

  @Option(help: "The user's token at the server; without it that in READECK_TOKEN.")
  var token: String?

  /// Opens the store, lets `body` read, waits for images that come after an article, and closes it.
  func open<Result>(_ body: (ArticleReader) async throws -> Result) async throws -> Result {
    try await place.open { store, transport in
      let cache = HTTPCache(
        in: store.namespace("articles.http"), over: transport, policy: Readeck.policy)
      let token = token ?? ProcessInfo.processInfo.environment["READECK_TOKEN"] ?? ""
      let reader = ArticleReader(
        in: store, at: Readeck(at: server, token: token, over: cache),
        report: { Console.complain("\($0)") })
      let result = try await body(reader)
      await reader.finish()
      return result
    }
  }

  func closing(_ commands: String...) -> String {
    Closing(store: place.store, commands: commands).text
  }
}
