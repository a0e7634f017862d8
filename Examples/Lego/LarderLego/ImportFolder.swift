import ArgumentParser
import ExampleProgram
import Larder
import LegoCache

struct ImportFolder: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Makes a store contain what a folder contains, and reports the changes.",
    discussion: """
      The folder has Rebrickable's CSV downloads (colors.csv.gz, parts.csv.gz, ...; compressed or not) or JSON in the form \
      of its API (colors.json, ...). Stored entities that are no longer in the folder are removed; kinds that the folder \
      does not have stay. Rows that cannot be read, or refer to a missing part or color, are skipped and listed. A file \
      that is damaged as a whole leaves its kind as it was; the summary says how far the import came, and the next import \
      continues.

      A folder that needs more room, beside what else is stored, than the limit of the store is refused with exit code 5, \
      before anything changes. If entities are evicted all the same, the summary says of which kinds, and the exit code is 4.
      """)

  @Argument(help: "The folder.") var folder: NonEmpty
  @OptionGroup var store: StoreOption

  func run() async throws {
    let folder = folder.text
    let dump = RebrickableDump(directory: folder)
    guard !dump.kinds.isEmpty else {
      throw Failure(
        .usage, "\(folder) has neither a table of a CSV dump nor entities as JSON",
        hint: "name a folder with colors.csv.gz, parts.csv.gz, ... or colors.json, parts.json, ...")
    }
    let store = try store.open()
    try checkRoom(for: dump, in: LegoCache(store))
    let summary = try await ImportSummary(in: LegoCache(store), from: "the folder") { advance in
      try LegoImport(into: LegoCache(store)).run(dump, progress: advance)
    }
    try store.close()
    try summary.finish(self.store)
  }

  /// An import that does not fit would evict most of what it stores, and what was fetched before.
  private func checkRoom(for dump: RebrickableDump, in cache: LegoCache) throws {
    guard let limit = try cache.larder.limits().effective.disk else { return }
    let needed = try cache.size(with: dump)
    if needed <= limit { return }
    throw Failure(
      .refused,
      "\(folder.text) needs about \(needed / 1_000_000 + 1) MB, and the store is limited to \(limit / 1_000_000) MB; nothing was changed",
      hint: store.raising(to: needed))
  }
}

extension StoreOption {
  /// How to raise the limit of the file, with some room to spare.
  func raising(to bytes: Int) -> String {
    let limit = "limits --disk \(bytes / 4_000_000 * 5 + 5)MB"
    return "raise the limit and run it again: larder \(path.shellWord) -e \(limit.shellWord)"
  }
}

struct RefreshLists: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refresh",
    abstract: "Reads whole lists from the service, page by page, and reports the changes.",
    discussion: """
      Stored entities that a list no longer has are removed. Entities that cannot be read are skipped and listed, and the \
      exit code is 4. If the service fails, the summary says how far the refresh came. There are lists of colors, themes, \
      categories, parts and sets (with the minifigs). Programs that refresh a kind at once share one pass over its list.
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
    let summary = try await options.open { client, cache in
      try await ImportSummary(in: cache, from: "the service") { advance in
        try await client.refresh(kinds, pageSize: pageSize, progress: advance)
      }
    }
    try summary.finish(options.place.store)
    let skipped = summary.report.skipped.values.reduce(0) { $0 + $1.count }
    guard skipped == 0 else {
      throw Failure(
        .failed,
        "the lists cannot be read in full (\(skipped.counted("fault"))), and nothing was removed",
        hint: "what can be read is stored; a later refresh removes what the service no longer has")
    }
  }
}
