import ArgumentParser
import ExampleProgram
import Larder
import LegoCache
import Service

struct RefreshLists: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refresh", abstract: "Stores whole lists of the service, page by page.",
    discussion: """
      Stored entities that a list no longer has are removed. If some cannot be read, nothing is removed, and the exit code \
      is 4. There are lists of colors, themes, categories, parts and sets (with the minifigs). Programs that refresh a kind \
      at once share one pass over its list.
      """)

  @Argument(help: "Which: \(EntityKind.list).") var kinds: [EntityKind]
  @OptionGroup var options: ServiceOptions
  @Option(help: "Entities in a page; the service allows at most 1,000.") var pageSize = 1000

  func validate() throws {
    guard (1...1000).contains(pageSize) else {
      throw ValidationError("pages of \(pageSize) are not possible: give 1 to 1000")
    }
  }

  func run() async throws {
    let (reports, looks) = try await options.open { client, cache in
      let line = ProgressLine.atTerminal
      defer { line?.clear() }
      var reports: [EntityKind: RefreshReport] = [:]
      for kind in kinds {
        reports[kind] = try await client.refresh(kind, pageSize: pageSize) { done, total in
          line?.advance(kind.word, done: done, of: total)
        }
      }
      return (reports, reports.keys.map { "keys @\(cache.name($0.namespace)) --limit 5" }.sorted())
    }
    var table = TextTable(["", "listed", "removed"])
    for kind in EntityKind.allCases {
      guard let report = reports[kind] else { continue }
      table.add([kind.word, report.listed.grouped, report.removed.grouped])
    }
    try options.place.store.show(reports, closing: ["namespaces"] + looks, table.lines)
    let faults = reports.sorted { $0.key.word < $1.key.word }.flatMap(\.value.faults)
    for fault in faults { Console.complain(fault) }
    guard faults.isEmpty else {
      throw Failure(
        .failed,
        "the lists cannot be read in full (\(faults.count.counted("fault"))), and nothing was removed",
        hint: "what can be read is stored; a later refresh removes what the service no longer has")
    }
  }
}
