import ArgumentParser
import Catalog
import ExampleProgram
import Foundation
import Larder
import LarderHTTP
import LarderURLSession
import Service

/// Where the catalog is kept, and where it comes from.
struct Place: ParsableArguments {
  @Option(help: "The store; made if there is none.")
  var store: String

  @Option(help: "The server's API.")
  var server = "https://catalog.example.org/api"

  @Option(help: "Whose catalog it is: a name in this store.")
  var user = "me"

  @Option(help: "The user's token at the server; without it that in CATALOG_TOKEN.")
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

  /// Opens the store, lets `body` read, adds what was counted to the totals, and closes it.
  func open<Result>(_ body: (Catalog) async throws -> Result) async throws -> Result {
    let transport = try transport()
    let store = try Store.opened(at: store)
    let cache = HTTPCache(in: store.namespace("catalog.http"), over: transport)
    let token = token ?? ProcessInfo.processInfo.environment["CATALOG_TOKEN"] ?? ""
    let catalog = Catalog(at: server, user: user, token: token, over: cache)
    let result = try await body(catalog)
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
        hint: "name a folder that has answers.json, such as Examples/Catalog/Sample")
    }
  }

  func closing(_ commands: String...) -> String { Closing(store: store, commands: commands).text }
}
