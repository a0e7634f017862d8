import ArgumentParser
import ExampleProgram
import Larder
import LegoCache

struct RefreshLists: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refresh",
    abstract: "Reads whole lists from the service, page by page, and reports the changes.",
    discussion: """
      Stored entities that a list no longer has are removed. Entities that cannot be read are skipped and listed, and the \
      exit code is 4. If the service fails, the summary says how far the refresh came. There are lists of colors, themes, \
      categories, parts and sets (with the minifigs).
      """)

  @Argument(help: "Which: \(KindName.list).")
  var kinds: [KindName]

  @OptionGroup var options: ServiceOptions

  @Option(help: "Entities in a page; the service allows at most 1,000.")
  var pageSize = 1000

  @Flag(help: "Print the summary as JSON.")
  var json = false

  func run() async throws {
    let (client, _) = try options.client()
    guard let cache = client.cache, cache.plan.usesDisk else {
      throw Failure(.usage, "this plan stores nothing on disk that could be refreshed")
    }
    let line = ProgressLine.atTerminal
    let start = ContinuousClock.now
    var (report, reason) = (ImportReport(), (any Error)?.none)
    do {
      defer { line?.clear() }
      report = try await client.refresh(kinds.map(\.kind), pageSize: pageSize) { step in
        line?.advance(step.kind.word, done: step.done, of: step.total)
      }
    } catch let stopped as LegoImport.Stopped {
      (report, reason) = (stopped.report, stopped.reason)
    }
    let summary = try ImportSummary(
      report, in: cache, source: "the service", time: ContinuousClock.now - start)
    try cache.larder.close()
    Console.show(try json ? JSONOutput.text(summary) : summary.text(options.place.store))
    if let reason { throw reason }
    let skipped = report.skipped.values.reduce(0) { $0 + $1.count }
    guard skipped == 0 else {
      throw Failure(
        .failed,
        "\(skipped) listed \(skipped == 1 ? "entity" : "entities") cannot be read, and nothing was removed",
        hint: "the others are stored; a later refresh removes what the service no longer has")
    }
  }
}
