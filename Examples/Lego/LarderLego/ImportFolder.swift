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
    abstract: "Makes a store contain what a folder contains, and reports the changes.",
    discussion: """
      The folder has Rebrickable's CSV downloads (colors.csv.gz, parts.csv.gz, ...; compressed or not) or JSON in the form \
      of its API (colors.json, ...). Stored entities that are no longer in the folder are removed; kinds that the folder \
      does not have stay. Rows that refer to a missing part or colour are skipped and listed. If a file is damaged, the \
      summary says how far the import came; the next import continues.

      A store with a limit keeps to it: entities that do not fit are evicted, and the summary says how many are stored.
      """)

  @Argument(help: "The folder.")
  var folder: String

  @OptionGroup var store: StoreOption
  @OptionGroup var limit: LimitOption

  @Option(help: "How long entities stay: default, long-term, short-term or never.")
  var lifetimes = LifetimesName.longTerm

  @Option(parsing: .upToNextOption, help: "Only these kinds: \(KindName.list).")
  var only: [KindName] = []

  @Flag(help: "Print the summary as JSON.")
  var json = false

  func run() throws {
    let source = try source()
    let store = try store.open()
    if let bytes = limit.bytes { try store.declare(diskLimit: bytes) }
    let cache = LegoCache(store, plan: CachePlan(disk: lifetimes.lifetimes))
    let kinds = only.isEmpty ? EntityKind.allCases : only.map(\.kind)
    let progress = try ProgressLine.atTerminal.map { line in
      ImportProgress(line, estimates: try estimates(of: source, kinds))
    }
    let start = ContinuousClock.now
    var (report, reason) = (ImportReport(), (any Error)?.none)
    do {
      defer { progress?.line.clear() }
      report = try LegoImport(into: cache).run(source, kinds: kinds) { progress?.advance($0) }
    } catch let stopped as LegoImport.Stopped {
      (report, reason) = (stopped.report, stopped.reason)
    }
    let summary = try ImportSummary(
      report, in: cache, source: "the folder", time: ContinuousClock.now - start)
    try store.close()
    Console.show(try json ? JSONOutput.text(summary) : summary.text(self.store))
    if let reason { throw reason }
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
        hint: "put them into separate folders, and import one of them")
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

/// The progress of all kinds together.
private final class ImportProgress {
  let line: ProgressLine
  private let estimates: [EntityKind: Int]
  private var done: [EntityKind: Int] = [:]

  init(_ line: ProgressLine, estimates: [EntityKind: Int]) {
    self.line = line
    self.estimates = estimates
  }

  func advance(_ progress: LegoImport.Progress) {
    done[progress.kind] = progress.done
    let all = estimates.values.reduce(0, +)
    // A finished kind counts as estimated, which may have been too high.
    let before = EntityKind.allCases.prefix { $0 != progress.kind }
      .reduce(0) { $0 + (estimates[$1] ?? 0) }
    line.advance(
      progress.kind.word, count: done.values.reduce(0, +),
      passed: before + min(progress.done, estimates[progress.kind] ?? 0),
      of: all > 0 ? all : nil)
  }
}
