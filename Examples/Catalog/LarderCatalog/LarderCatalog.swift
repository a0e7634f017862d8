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
    subcommands: [
      ListFunnels.self, ShowFunnel.self, Status.self, Refresh.self, SignOut.self,
    ])

  static func main() async {
    await Failure.run(Self.self, credential: "--token or CATALOG_TOKEN") { error in
      switch error {
      case CatalogError.signedOut:
        Failure(
          .refused, "\(error)",
          hint:
            "the user's data was removed; give a valid credential: --token or CATALOG_TOKEN")
      case let error as CatalogError: Failure(.failed, "\(error)", hint: "try it again later")
      default: nil
      }
    }
  }
}

/// The user, the server and the store.
struct Account: ParsableArguments {
  @OptionGroup var place: Place

  @Option(help: "The server's API.")
  var server = "https://catalog.example.org/api"

  @Option(help: "The user's name in this store.")
  var user = "me"

  @Option(help: "The user's token at the server. Default: the variable CATALOG_TOKEN.")
  var token: String?

  func open<Result>(_ body: (Catalog) async throws -> Result) async throws -> Result {
    try await place.open { store, transport in
      let cache = HTTPCache(
        in: store.namespace("catalog.http"), over: Catalog.network(transport))
      let token = token ?? ProcessInfo.processInfo.environment["CATALOG_TOKEN"] ?? ""
      return try await body(
        Catalog(at: server, user: user, token: token, over: cache, log: place.log))
    }
  }
}

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the hit rate and the bytes saved, for all processes of the user.")

  @OptionGroup var account: Account

  @Flag(help: "Print it as JSON.")
  var json = false

  private struct Report: Encodable {
    var metrics: CatalogMetrics
    var hitRate: Double?
    var savedShare: Double?
  }

  func run() async throws {
    let metrics = try await account.open { try $0.saveMetrics() }
    if json {
      let report = Report(
        metrics: metrics, hitRate: metrics.hitRate, savedShare: metrics.savedShare)
      return print(try JSONOutput.text(report))
    }
    print(
      "\(metrics.reads) reads: \(metrics.hits) hits, \(metrics.confirmed) confirmed, "
        + "\(metrics.misses) misses")
    print("hit rate   ", metrics.hitRate?.percent ?? "no reads yet", separator: "  ")
    print("bytes saved", metrics.savedShare?.percent ?? "no reads yet", separator: "  ")
    print(account.place.closing("keys @catalog.metrics", "namespaces"))
  }
}

struct Refresh: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Removes the stored answer about a funnel, so that the next `show` requests it.",
    discussion: "`list --refresh` does the same for the list. The funnel's questions stay.")

  @Argument(help: "The slug, as `list` prints it.")
  var slug: String

  @OptionGroup var account: Account

  @Flag(help: "Print what was removed as JSON.")
  var json = false

  func run() async throws {
    let removal = try await account.open { try await $0.refresh(slug) }
    try Removed(removal, slug: slug).print(json, account)
  }
}

struct SignOut: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign-out", abstract: "Removes all data of the user.")

  @OptionGroup var account: Account

  @Flag(help: "Print what was removed as JSON.")
  var json = false

  func run() async throws {
    let removal = try await account.open { try await $0.signOut() }
    try Removed(removal, user: account.user).print(json, account)
  }
}

private struct Removed: Encodable {
  var user: String?
  var slug: String?
  var answers: Int
  var bytes: Int

  init(_ removal: RemovalResult, user: String? = nil, slug: String? = nil) {
    (self.user, self.slug) = (user, slug)
    (answers, bytes) = (removal.entries, removal.bytes)
  }

  func print(_ json: Bool, _ account: Account) throws {
    if json { return Swift.print(try JSONOutput.text(self)) }
    Swift.print(
      "\(answers.counted("answer")) removed, \(bytes) bytes",
      account.place.closing("namespaces"), separator: "\n")
  }
}
