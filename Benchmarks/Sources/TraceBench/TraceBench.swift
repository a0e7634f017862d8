import ArgumentParser
import Foundation

@main
struct TraceBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "How often cache policies hit, and what that costs a hit.",
    subcommands: [ReplayCommand.self, PatternsCommand.self, UsesCommand.self],
    defaultSubcommand: ReplayCommand.self)
}

struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Replays access traces through cache policies and says how often they hit.",
    discussion: "A trace has `key` or `key size` a line, plain or compressed with gzip.")

  @Argument(help: "Traces, or directories of them.") var traces: [String]
  @Option(help: "Where to write the results as JSON.") var json: String?
  @Option(help: "Capacities in percent of a trace's distinct keys.") var percent = Study().percents
  @Option(help: "The smallest cache in entries; smaller cells are left out.")
  var least = Study().leastCapacity
  @Option(help: "Only policies whose name contains one of these; OPT and LRU always run.")
  var policy: [String] = []
  @Option(help: "Cells replayed at once.") var jobs = ProcessInfo.processInfo.activeProcessorCount
  @Flag(help: "Each trace as two: its first half and its second.") var halves = false
  @Option(help: "Only so many requests of each trace.") var requests: Int?
  @Flag(
    help:
      "The store itself too: as it is, and closed and opened in mid-trace with its table and without."
  )
  var store = false
  @Option(help: "Capacities for the store, if not all of them.") var storePercent: [Double] = []
  @Option(help: "Where the stores are made.") var directory = StoreReplay.usualDirectory

  func validate() throws {
    guard (percent + storePercent).allSatisfy({ $0 > 0 && $0 <= 100 }) else {
      throw ValidationError("A capacity is more than 0 and at most 100 percent.")
    }
    guard least > 0 && jobs > 0 && requests ?? 1 > 0 else {
      throw ValidationError("The smallest cache, the jobs and the requests are at least 1.")
    }
  }

  func run() async throws {
    var study = Study()
    study.percents = percent
    study.leastCapacity = least
    if !policy.isEmpty {
      study.policies = Study.policies.filter { type in
        type == OPT.self || type == LRU.self
          || policy.contains { type.name.lowercased().contains($0.lowercased()) }
      }
    }
    var loaded = try await limited(files(), jobs: jobs) { try Trace(contentsOf: $0) }
    if let requests {
      loaded = loaded.map { $0.slice(0..<min(requests, $0.requests.count), named: $0.name) }
    }
    if halves {
      loaded = loaded.flatMap { trace in
        let middle = trace.requests.count / 2
        return [
          trace.slice(0..<middle, named: trace.name + ", first half"),
          trace.slice(middle..<trace.requests.count, named: trace.name + ", second half"),
        ]
      }
    }
    var cells = try await study.cells(of: loaded, jobs: jobs)
    var names = study.policies.map { $0.name }
    if store {
      cells += try await StoreReplay(directory: directory).cells(
        of: loaded, percents: storePercent.isEmpty ? percent : storePercent, leastCapacity: least,
        jobs: jobs)
      names += StoreReplay.Variant.allCases.map(\.name)
    }
    let report = Report(cells, policies: names, traces: loaded.map(\.name))
    print(report.text)
    if let json { try report.json.write(to: URL(fileURLWithPath: json), options: .atomic) }
  }

  private func files() throws -> [URL] {
    let manager = FileManager.default
    let files = try traces.flatMap { path -> [URL] in
      let url = URL(fileURLWithPath: path)
      let values = try url.resourceValues(forKeys: [.isDirectoryKey])
      guard values.isDirectory == true else { return [url] }
      return try manager.contentsOfDirectory(atPath: path).filter { !$0.hasPrefix(".") }.sorted()
        .map { url.appendingPathComponent($0) }
    }
    guard !files.isEmpty else { throw ValidationError("There is no trace in what was given.") }
    return files
  }
}
