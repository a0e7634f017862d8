import ArgumentParser
import Catalog
import ExampleProgram
import Foundation
import Larder
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
    version: Store.version,
    subcommands: [ListFunnels.self, ShowFunnel.self, Refresh.self, SignOut.self])

  static func main() async { await Failure.run(Self.self, credential: "--token or CATALOG_TOKEN") }
}

struct Account: ParsableArguments {
  @OptionGroup var place: Place
  @Option(help: "The server's API.") var server = "https://catalog.example.org/api"
  @Option(help: "The user's name in this store.") var user = "me"
  @Option(help: "The user's token at the server. Default: the variable CATALOG_TOKEN.")
  var token: String?

  func open<Result>(_ body: (Catalog) async throws -> Result) async throws -> Result {
    try await place.open { store, transport in
      let token = token ?? ProcessInfo.processInfo.environment["CATALOG_TOKEN"] ?? ""
      let server = place.offline ? Place.recording + "/api" : server
      return try await body(
        Catalog(
          at: server, user: user, token: token.trimmingBlanks, in: store, over: transport,
          log: place.log))
    }
  }

  func show(_ removal: RemovalResult) throws {
    try place.show(["\(removal.entries) removed, \(removal.bytes) bytes"], closing: ["namespaces"])
  }
}

struct ListFunnels: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists all funnels, from stored pages that are fresh.",
    discussion: "Funnels that cannot be read are skipped and named. The exit code is then 4.")

  @OptionGroup var account: Account
  @Option(help: "Funnels on a page, 1 to 100.") var limit = 50
  @Option(help: "Only funnels of this tier, also in later lists; '' for all.") var tier: String?
  @Flag(help: "Ask the server about every page, fresh or not.") var refresh = false

  func run() async throws {
    let listing = try await account.open { catalog in
      var catalog = catalog
      if let tier { catalog.tier = tier.isEmpty ? nil : tier }
      return try await catalog.all(limit: limit, isFresh: refresh)
    }
    let (contents, replies) = (listing.contents, listing.replies)
    let fresh = replies.count { $0.isHit }
    let unchanged = replies.count { $0.isConfirmed }
    let groups =
      contents.pillars.map { ($0.pillar.title ?? $0.pillar.id, $0.funnels) }
      + [("Others", contents.uncategorized)]
    let rows = groups.filter { !$0.1.isEmpty }.flatMap { title, funnels in
      [title] + funnels.map { "  \($0.slug.padded(to: 24))  \($0.title)" }
    }
    let sources =
      "pages: \(fresh) fresh, \(unchanged) unchanged, \(replies.count - fresh - unchanged) fetched"
    try account.place.show(
      rows + [contents.funnels.count.counted("funnel"), sources], closing: ["namespaces", "stats"])
    for reason in contents.skipped { Console.complain("left out: \(reason)") }
    if contents.skipped.isEmpty { return }
    throw Failure(.failed, "\(contents.skipped.count.counted("part")) cannot be read")
  }
}

struct ShowFunnel: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Prints the catalog's entry of a funnel, as JSON.")

  @Argument(help: "The slug, as `list` prints it.") var slug: String
  @OptionGroup var account: Account
  @Flag(help: "Print its questions instead.") var definition = false

  func run() async throws {
    let reply = try await account.open { catalog in
      try await Failure.orNoSuchKey {
        try await definition ? catalog.definition(of: slug) : catalog.funnel(slug)
      }
    }
    try Output.write(reply.text, isDocument: true)
  }
}

struct Refresh: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Removes the stored answer about a funnel, so that the next `show` requests it.",
    discussion: "`list --refresh` does the same for the list. The funnel's questions stay.")

  @Argument(help: "The slug, as `list` prints it.") var slug: String
  @OptionGroup var account: Account

  func run() async throws {
    try account.show(try await account.open { try await $0.refresh(slug) })
  }
}

struct SignOut: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign-out", abstract: "Removes all data of the user.")

  @OptionGroup var account: Account

  func run() async throws { try account.show(try await account.open { try $0.signOut() }) }
}
