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
  @Option(help: "The user's name in this store.") var user = NonEmpty("me")
  @Option(help: "The user's token at the server. Default: the variable CATALOG_TOKEN.")
  var token: String?

  /// Opens the store, calls `body`, saves the counters, also after an error, and closes the store.
  func open<Result>(_ body: (Catalog) async throws -> Result) async throws -> Result {
    try await place.open { store, transport in
      let cache = HTTPCache(in: store.namespace("catalog.http"), over: Catalog.network(transport))
      let token = token ?? ProcessInfo.processInfo.environment["CATALOG_TOKEN"] ?? ""
      let isRecorded = place.recording.offline
      let catalog = Catalog(
        at: isRecorded ? RecordingOption.address + "/api" : server.text,
        user: isRecorded ? "(recording)" : user.text, token: isRecorded ? "" : token.trimmingBlanks,
        over: cache, log: place.log)
      do {
        let result = try await body(catalog)
        try await save(cache)
        return result
      } catch {
        try await save(cache)
        throw error
      }
    }
  }

  /// A full store does without.
  private func save(_ cache: HTTPCache) async throws {
    _ = try await ifRoomSuspending { try await cache.saveStatistics() }
  }

  func show(_ removal: RemovalResult) throws {
    try place.store.show(
      ["answers": removal.entries, "bytes": removal.bytes], closing: ["namespaces"],
      ["\(removal.entries.counted("answer")) removed, \(removal.bytes) bytes"])
  }
}

struct ListFunnels: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists all funnels, from stored pages that are fresh.",
    discussion: """
      Funnels that cannot be read are skipped and named. The exit code is then 4, and also if --refresh shows stored pages \
      because the server gave no usable answer.
      """)

  @Argument(help: "Only funnels with this text in their title.") var search: NonEmpty?
  @OptionGroup var account: Account
  @Option(help: "Funnels on a page, 1 to 100.") var limit = 50
  @Option(help: "Only funnels of this tier.") var tier: NonEmpty?
  @Flag(help: "Ask the server about every page, fresh or not.") var refresh = false

  func validate() throws {
    guard limit >= 1 else { throw ValidationError("a page of \(limit) funnels is not possible") }
  }

  func run() async throws {
    let listing = try await account.open { catalog in
      let line = ProgressLine.atTerminal
      defer { line?.clear() }
      return try await catalog.filtered(by: tier?.text).all(limit: limit, isFresh: refresh) {
        line?.advance("pages", done: $0, of: nil)
      }
    }
    if let trouble = listing.trouble { Console.complain("stored pages stand in: \(trouble)") }
    let all = listing.contents
    let contents = search.map { all.searching($0.text) } ?? all
    let (pages, row) = Self.summary(of: listing.replies)
    try account.place.store.show(
      Listing(contents: contents, pages: pages),
      closing: ["keys @catalog.http", "keys @catalog.listings", "namespaces"],
      rows(of: contents) + [contents.funnels.count.counted("funnel"), row])
    for reason in all.skipped { Console.complain("left out: \(reason)") }
    if !all.skipped.isEmpty {
      throw Failure(.failed, "\(all.skipped.count.counted("part")) of the catalog cannot be read")
    }
    if refresh, listing.trouble != nil {
      throw Failure(.failed, "the list was not refreshed", hint: "try it again later")
    }
  }

  private struct Listing: Encodable {
    var contents: CatalogContents
    var pages: [String: Int]
  }

  private func rows(of contents: CatalogContents) -> [String] {
    let groups =
      contents.pillars.sorted { ($0.pillar.order ?? 0) < ($1.pillar.order ?? 0) }
      .map { ($0.pillar.title ?? $0.pillar.id, $0.funnels) } + [("Others", contents.uncategorized)]
    return groups.filter { !$0.1.isEmpty }.flatMap { title, funnels in
      [title] + funnels.map { "  \($0.slug.padded(to: 24))  \($0.title)" }
    }
  }

  /// Where the pages are from; the age is that of the oldest, in seconds.
  private static func summary(of replies: [Reply]) -> ([String: Int], String) {
    let stale = replies.count(where: \.isStale)
    let fresh = replies.count { $0.isHit && !$0.isStale }
    let unchanged = replies.count { $0.isConfirmed && !$0.isStale }
    let fetched = replies.count - stale - fresh - unchanged
    let age = replies.compactMap(\.age).max() ?? 0
    let old = stale > 0 ? ", \(stale) stale, up to \(Duration.seconds(age).words) old" : ""
    return (
      ["fresh": fresh, "unchanged": unchanged, "fetched": fetched, "stale": stale, "age": age],
      "pages: \(fresh) fresh, \(unchanged) unchanged, \(fetched) fetched" + old
    )
  }
}

struct ShowFunnel: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Prints the catalog's entry of a funnel, as JSON.")

  @Argument(help: "The slug, as `list` prints it.") var slug: NonEmpty
  @OptionGroup var account: Account
  @Flag(help: "Print its questions instead.") var definition = false

  func run() async throws {
    let reply = try await account.open { catalog in
      try await Failure.orNoSuchKey {
        try await definition ? catalog.definition(of: slug.text) : catalog.funnel(slug.text)
      }
    }
    if reply.isStale {
      let age = Duration.seconds(reply.age ?? 0).words
      Console.complain("from the store, \(age) old, stale")
    }
    try Output.write(document: String(decoding: reply.body, as: UTF8.self))
    account.place.closeAtTerminal("keys @catalog.http")
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
