import ArgumentParser
import ExampleProgram
import Larder
import LegoCache

struct RefreshLists: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refresh",
    abstract: "Reads whole lists from the service, page after page, and says what that changed.",
    discussion: """
      What is stored and no longer in a list is removed. There are lists of colors, themes, categories, parts and sets \
      (with the minifigs).
      """)

  @Argument(help: "Which: \(EntityKind.allCases.map(\.word).joined(separator: ", ")).")
  var kinds: [KindName]

  @OptionGroup var options: ServiceOptions

  @Option(help: "How many entities to ask for at a time; the service gives at most 1,000.")
  var pageSize = 1000

  @Flag(help: "Print the summary as JSON.")
  var json = false

  func run() async throws {
    let (client, _) = try options.client()
    guard let cache = client.manager.cache else {
      throw Failure(.usage, "this plan keeps nothing on disk that could be refreshed")
    }
    let line = ProgressLine.ifWatched
    let start = ContinuousClock.now
    let report: ImportReport
    do {
      defer { line?.clear() }
      report = try await client.refresh(kinds.map(\.kind), pageSize: pageSize) { step in
        line?.advance(step.kind.word, done: step.done, of: step.total)
      }
    }
    let summary = try ImportSummary(
      report, in: cache, from: "the service", seconds: (ContinuousClock.now - start) / .seconds(1))
    try cache.larder.close()
    print(json ? try summary.json : summary.text(naming: options.store))
  }
}
