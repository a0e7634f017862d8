import ArgumentParser
import Catalog
import ExampleProgram

struct ListFunnels: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists all funnels, with the pages that are kept where they will do.",
    discussion: "Another tier than the last time ends what was kept.")

  @OptionGroup var account: Account

  @Option(help: "Funnels on a page, 1 to 100.")
  var limit = 50

  @Option(help: "Only funnels of this tier.")
  var tier: String?

  @Flag(help: "Print the catalog as JSON.")
  var json = false

  func validate() throws {
    guard limit >= 1 else { throw ValidationError("a page of \(limit) funnels is not possible") }
  }

  func run() async throws {
    let (contents, metrics) = try await account.open { catalog in
      let catalog = try await catalog.filtered(by: tier)
      let reader = try catalog.reader(limit: limit)
      let line = ProgressLine.ifWatched
      defer { line?.clear() }
      while try await reader.more() {
        line?.advance("pages", done: await reader.pageCount, of: nil)
      }
      let metrics = catalog.metrics
      try catalog.saveMetrics()
      return (await reader.contents, metrics)
    }
    print(json ? try JSONOutput.text(contents) : text(contents, metrics))
  }

  private func text(_ contents: CatalogContents, _ metrics: CatalogMetrics) -> String {
    var lines: [String] = []
    for group in contents.pillars.sorted(by: { ($0.pillar.order ?? 0) < ($1.pillar.order ?? 0) }) {
      lines.append(group.pillar.title)
      lines += group.funnels.map(Self.line)
    }
    if !contents.uncategorized.isEmpty {
      lines.append("Others")
      lines += contents.uncategorized.map(Self.line)
    }
    lines.append("\(contents.funnels.count) funnels")
    lines.append(
      "\(metrics.hits) pages were fresh, \(metrics.confirmed) still right, \(metrics.misses) fetched"
    )
    lines.append(
      account.place.closing("keys @catalog.http", "keys @catalog.listings", "namespaces"))
    return lines.joined(separator: "\n")
  }

  private static func line(_ funnel: Funnel) -> String {
    "  \(funnel.slug.padded(to: 24))  \(funnel.title)"
  }
}
