import ArgumentParser
import Catalog
import ExampleProgram
import Foundation
import Larder
import LarderHTTP

/// Whose catalog it is, where it comes from, and where it is kept.
struct Account: ParsableArguments {
  @OptionGroup var place: Place

  @Option(help: "The server's API.")
  var server = "https://catalog.example.org/api"

  @Option(help: "Whose catalog it is: a name in this store.")
  var user = "me"

  @Option(help: "The user's token at the server; without it that in CATALOG_TOKEN.")
  var token: String?

  func open<Result>(_ body: (Catalog) async throws -> Result) async throws -> Result {
    try await place.open { store, transport in
      let cache = HTTPCache(in: store.namespace("catalog.http"), over: transport)
      let token = token ?? ProcessInfo.processInfo.environment["CATALOG_TOKEN"] ?? ""
      return try await body(Catalog(at: server, user: user, token: token, over: cache))
    }
  }
}
