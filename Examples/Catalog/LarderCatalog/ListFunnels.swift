import ArgumentParser
import Catalog
import ExampleProgram
import Service

struct ListFunnels: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists all funnels, from stored pages that are fresh.",
    discussion: """
      Another tier than the last time removes the stored pages. Funnels that cannot be read are skipped and named. The exit \
      code is then 4, and also if --refresh shows stored pages because the server gave no usable answer.
      """)

  @Argument(help: "Only funnels with this text in their title.")
  var search: String?

  @OptionGroup var account: Account

  @Option(help: "Funnels on a page, 1 to 100.")
  var limit = 50

  @Option(help: "Only funnels of this tier.")
  var tier: String?

  @Flag(help: "Ask the server about every page, fresh or not.")
  var refresh = false

  @Flag(help: "Print the catalog as JSON.")
  var json = false

  func validate() throws {
    guard limit >= 1 else { throw ValidationError("a page of \(limit) funnels is not possible") }
  }

  func run() async throws {
    let (contents, replies, trouble) = try await account.open { catalog in
      let catalog = try await catalog.filtered(by: tier)
      let reader = try catalog.reader(limit: limit, isFresh: refresh)
      let line = ProgressLine.atTerminal
      defer { line?.clear() }
      while try await reader.more() {
        line?.advance("pages", done: await reader.pageCount, of: nil)
      }
      return (
        await reader.contents.searching(search), await reader.replies, await reader.trouble
      )
    }
    if let trouble { Console.complain("stored pages stand in: \(trouble)") }
    if json { print(try JSONOutput.text(contents)) } else { show(contents, replies) }
    for reason in contents.skipped { Console.complain("left out: \(reason)") }
    guard contents.skipped.isEmpty else {
      throw Failure(
        .failed, "\(contents.skipped.count.counted("funnel")) cannot be read",
        hint: "the others are complete; --refresh asks for all of them again")
    }
    if refresh, trouble != nil {
      throw Failure(.failed, "the list was not refreshed", hint: "try it again later")
    }
  }

  private func show(_ contents: CatalogContents, _ replies: [Reply]) {
    for group in contents.pillars.sorted(by: { ($0.pillar.order ?? 0) < ($1.pillar.order ?? 0) })
    where search == nil || !group.funnels.isEmpty {
      Console.show(group.pillar.title)
      group.funnels.forEach(Self.show)
    }
    if !contents.uncategorized.isEmpty {
      print("Others")
      contents.uncategorized.forEach(Self.show)
    }
    print(contents.funnels.count.counted("funnel"))
    let stale = replies.count(where: \.isStale)
    let fresh = replies.count { $0.isHit && !$0.isStale }
    let unchanged = replies.count { $0.isConfirmed && !$0.isStale }
    let fetched = replies.count - stale - fresh - unchanged
    print(
      "pages: \(fresh) fresh, \(unchanged) unchanged, \(fetched) fetched"
        + (stale > 0 ? ", \(stale) stale: the server cannot be reached" : ""))
    print(account.place.closing("keys @catalog.http", "keys @catalog.listings", "namespaces"))
  }

  private static func show(_ funnel: Funnel) {
    Console.show("  \(funnel.slug.padded(to: 24))  \(funnel.title)")
  }
}

struct ShowFunnel: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Prints the catalog's entry of a funnel, as JSON.")

  @Argument(help: "The slug, as `list` prints it.")
  var slug: String

  @OptionGroup var account: Account

  @Flag(help: "Print its questions instead.")
  var definition = false

  func run() async throws {
    let reply = try await account.open { catalog in
      try await definition ? catalog.definition(of: slug) : catalog.funnel(slug)
    }
    if reply.isStale {
      let age = Duration.seconds(reply.age ?? 0).words
      Console.complain("from the store, \(age) old, stale: the server cannot be reached")
    }
    let text = String(decoding: reply.body, as: UTF8.self)
    if LiveScreen.isPossible { Console.show(text) } else { print(text) }
    if Console.isTerminal { Console.complain(account.place.closing("keys @catalog.http")) }
  }
}
