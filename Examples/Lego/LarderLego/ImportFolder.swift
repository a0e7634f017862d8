import ArgumentParser
import ExampleProgram
import Larder
import LegoCache

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

struct ImportFolder: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Makes a store hold what a folder has, and says what that changed.",
    discussion: """
      The folder has Rebrickable's CSV downloads (colors.csv.gz, parts.csv.gz, ...; packed or not) or JSON in the shape \
      of its API (colors.json, ...). What is stored and no longer in the folder is removed; kinds that the folder does \
      not have are left alone.

      A store with a limit keeps to it: what does not fit is evicted, and the summary says how much of a kind is held.
      """)

  @Argument(help: "The folder.")
  var folder: String

  @Option(help: "The store; made if there is none.")
  var store: String

  @Option(help: "How long entities stay: default, long-term, short-term or never.")
  var lifetimes = LifetimesName.longTerm

  @Option(
    parsing: .upToNextOption,
    help: "Only these kinds: \(EntityKind.allCases.map(\.word).joined(separator: ", ")).")
  var only: [KindName] = []

  @Option(
    help: """
      What the store's file may grow to, in MB; without it a new store takes all that the folder has, and one that is \
      there keeps its limit.
      """)
  var limit: Int?

  @Flag(help: "Print the summary as JSON.")
  var json = false

  func validate() throws { try DiskLimit.validate(limit) }

  func run() throws {
    let source = try source()
    let store = try Store.opened(at: store)
    if let limit { try store.declare(diskLimit: limit * DiskLimit.megabyte) }
    let cache = LegoCache(store, lifetimes: lifetimes.lifetimes)
    let kinds = only.isEmpty ? EntityKind.allCases : only.map(\.kind)
    var progress = try ProgressLine.ifWatched.map { line in
      ImportProgress(line, estimates: try estimates(of: source, kinds))
    }
    let start = ContinuousClock.now
    let report: ImportReport
    do {
      defer { progress?.line.clear() }
      report = try LegoImport(into: cache).run(source, kinds: kinds) { progress?.advance($0) }
    }
    let summary = try ImportSummary(
      report, in: cache, from: "the folder", seconds: (ContinuousClock.now - start) / .seconds(1))
    try store.close()
    print(json ? try summary.json : summary.text(naming: self.store))
  }

  private func source() throws(Failure) -> any EntitySource {
    var isFolder = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder else {
      throw Failure(
        .usage, isFolder ? "cannot read \(folder)" : "there is no folder \(folder)",
        hint: "name a folder of CSV downloads, or of JSON such as Examples/Lego/Sample")
    }
    let (dump, entities) = (RebrickableDump(directory: folder), EntityFolder(directory: folder))
    switch (dump.kinds.isEmpty, entities.kinds.isEmpty) {
    case (false, true): return dump
    case (true, false): return entities
    case (true, true):
      throw Failure(
        .usage, "\(folder) has neither a table of a CSV dump nor entities as JSON",
        hint: "it should have colors.csv.gz, parts.csv.gz, ... or colors.json, parts.json, ...")
    case (false, false):
      throw Failure(
        .usage, "\(folder) has both CSV tables and JSON entities",
        hint: "which of them holds? put them into folders of their own")
    }
  }

  private func estimates(of source: any EntitySource, _ kinds: [EntityKind]) throws
    -> [EntityKind: Int]
  {
    var estimates: [EntityKind: Int] = [:]
    for kind in source.kinds where kinds.contains(kind) {
      estimates[kind] = try source.estimate(kind)
    }
    return estimates
  }
}
