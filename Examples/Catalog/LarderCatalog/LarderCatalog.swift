import ArgumentParser
import Catalog
import ExampleProgram
import Foundation
import Larder
import LarderHTTP
import Service

@main
struct LarderCatalog: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "larder-catalog",
    abstract: "Reads a catalog of questionnaires page by page, and caches its pages in a store.",
    discussion: """
      The server's answers say how long they are fresh. Exit codes: 0 done, 1 no such funnel, 2 usage, 3 the store cannot be \
      opened, 4 the server or the store failed, 5 refused, 130 interrupted.
      """,
    version: exampleVersion,
    subcommands: [ListFunnels.self, ShowFunnel.self, Refresh.self, SignOut.self])

  static func main() async {
    await Failure.run(Self.self, credential: "--token or CATALOG_TOKEN") { error in
      switch error {
      case CatalogError.signedOut:
        Failure(
          .refused, "\(error)",
          hint: "the user's data was removed; give a valid credential: --token or CATALOG_TOKEN")
      case let error as CatalogError: Failure(.failed, "\(error)", hint: "try it again later")
      default: nil
      }
    }
  }
}

/// The user, the server and the store.
struct Account: ParsableArguments {
  @OptionGroup var place: Place
  @Option(help: "The server's API.") var server = NonEmpty("https://catalog.example.org/api")
  @Option(help: "The user's name in this store.") var user = "me"

  @Option(help: "The user's token at the server. Default: the variable CATALOG_TOKEN.")
  var token: String?

  func validate() throws {
    if user.trimmingBlanks.isEmpty { throw ValidationError("the user has no name: give --user") }
  }

  /// Opens the store, calls `body`, saves the counters, also after an error, and closes the store.
  func open<Result>(_ body: (Catalog) async throws -> Result) async throws -> Result {
    try await place.open { store, transport in
      let cache = HTTPCache(in: store.namespace("catalog.http"), over: Catalog.network(transport))
      let token = token ?? ProcessInfo.processInfo.environment["CATALOG_TOKEN"] ?? ""
      let isRecorded = place.recording.offline
      let catalog = Catalog(
        at: isRecorded ? RecordingOption.address + "/api" : server.text,
        user: isRecorded ? "(recording)" : user, token: isRecorded ? "" : token.trimmingBlanks,
        over: cache, log: place.log)
      do {
        let result = try await body(catalog)
        try await saveCounters(of: cache)
        return result
      } catch {
        try await saveCounters(of: cache)
        throw error
      }
    }
  }

  /// A full store does without.
  private func saveCounters(of cache: HTTPCache) async throws {
    do {
      try await cache.saveStatistics()
    } catch let error as LarderError where error.code == .full {}
  }

  private struct Removed: Encodable {
    var answers: Int
    var bytes: Int
  }

  func show(_ removal: RemovalResult) throws {
    try place.store.show(
      Removed(answers: removal.entries, bytes: removal.bytes), closing: ["namespaces"],
      ["\(removal.entries.counted("answer")) removed, \(removal.bytes) bytes"])
  }
}

struct Refresh: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Removes the stored answer about a funnel, so that the next `show` requests it.",
    discussion: "`list --refresh` does the same for the list. The funnel's questions stay.")

  @Argument(help: "The slug, as `list` prints it.") var slug: NonEmpty
  @OptionGroup var account: Account

  func run() async throws {
    try account.show(try await account.open { try await $0.refresh(slug.text) })
  }
}

struct SignOut: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign-out", abstract: "Removes all data of the user.")

  @OptionGroup var account: Account

  func run() async throws { try account.show(try await account.open { try await $0.signOut() }) }
}
