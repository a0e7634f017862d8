import ArgumentParser
import Catalog
import ExampleProgram
import Service

struct ListFunnels: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists all funnels, from stored pages that are fresh.",
    discussion: """
      The stored pages of another tier are removed once the server has answered. Funnels that cannot be read are skipped and named. The exit \
      code is then 4, and also if --refresh shows stored pages because the server gave no usable answer.
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
    let (contents, replies, trouble) = try await account.open { catalog in
      let catalog = catalog.filtered(by: tier?.text)
      let reader = try catalog.reader(limit: limit, isFresh: refresh)
      let line = ProgressLine.atTerminal
      defer { line?.clear() }
      while try await reader.more() {
        line?.advance("pages", done: await reader.pageCount, of: nil)
      }
      return (
        await reader.contents.searching(search?.text), await reader.replies, await reader.trouble
      )
    }
    if let trouble { Console.complain("stored pages stand in: \(trouble)") }
    let pages = Pages(replies)
    try account.place.store.show(
      Listing(contents: contents, pages: pages),
      closing: ["keys @catalog.http", "keys @catalog.listings", "namespaces"],
      rows(of: contents) + [contents.funnels.count.counted("funnel"), pages.row])
    for reason in contents.skipped { Console.complain("left out: \(reason)") }
    guard contents.skipped.isEmpty else {
      throw Failure(
        .failed, "\(contents.skipped.count.counted("part")) of the catalog cannot be read",
        hint: "the rest is complete; --refresh asks for all of it again")
    }
    if refresh, trouble != nil {
      throw Failure(.failed, "the list was not refreshed", hint: "try it again later")
    }
  }

  private func rows(of contents: CatalogContents) -> [String] {
    let groups = contents.pillars.sorted { ($0.pillar.order ?? 0) < ($1.pillar.order ?? 0) }
      .map { (title: $0.pillar.title, funnels: $0.funnels) }
      .filter { search == nil || !$0.funnels.isEmpty }
    let others = contents.uncategorized.isEmpty ? [] : [("Others", contents.uncategorized)]
    return (groups + others).flatMap { title, funnels in
      [title] + funnels.map { "  \($0.slug.padded(to: 24))  \($0.title)" }
    }
  }

  /// The contents, and where their pages are from.
  private struct Listing: Encodable {
    var contents: CatalogContents
    var pages: Pages

    private enum CodingKeys: CodingKey { case pages }

    func encode(to encoder: any Encoder) throws {
      try contents.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(pages, forKey: .pages)
    }
  }

  private struct Pages: Encodable {
    var fresh: Int
    var unchanged: Int
    var fetched: Int
    var stale: Int
    /// The age of the oldest page, in seconds.
    var age: Int

    init(_ replies: [Reply]) {
      stale = replies.count(where: \.isStale)
      fresh = replies.count { $0.isHit && !$0.isStale }
      unchanged = replies.count { $0.isConfirmed && !$0.isStale }
      fetched = replies.count - stale - fresh - unchanged
      age = replies.compactMap(\.age).max() ?? 0
    }

    var row: String {
      let old = Duration.seconds(age).words
      return "pages: \(fresh) fresh, \(unchanged) unchanged, \(fetched) fetched"
        + (stale > 0 ? ", \(stale) stale, up to \(old) old" : "")
    }
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
