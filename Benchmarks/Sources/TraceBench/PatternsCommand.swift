import ArgumentParser
import Foundation

struct PatternsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "patterns",
    abstract:
      "Replays generated loops and scans through cache policies and says how often they hit.",
    discussion: """
      Loops of 1.02 to 1.5 times the cache, pure and with 30 % of keys that never return; scans followed by loops over the \
      scanned keys.
      """)

  @Option(help: "The capacity in entries.") var capacity = 1000
  @Option(help: "The seed of the patterns.") var seed: UInt64 = 1
  @Option(help: "Where to write the results as JSON.") var json: String?
  @Option(help: "Cells replayed at once.") var jobs = ProcessInfo.processInfo.activeProcessorCount
  @Flag(help: "The store itself too.") var store = false
  @Option(help: "Where the stores are made.") var directory = StoreReplay.usualDirectory

  func validate() throws {
    guard capacity >= 10, jobs > 0 else {
      throw ValidationError("The capacity is at least 10, the jobs at least 1.")
    }
  }

  func run() async throws {
    let traces = Patterns.all(capacity: capacity, seed: seed)
    var cells = try await Study().cells(of: traces, jobs: jobs)
    var names = Study.policies.map { $0.name }
    if store {
      cells += try await StoreReplay(directory: directory).cells(
        of: traces, percents: [], leastCapacity: 0, variants: [.undisturbed], jobs: jobs)
      names.append(StoreReplay.Variant.undisturbed.name)
    }
    let report = Report(cells, policies: names, traces: traces.map(\.name))
    print(report.patterns)
    if let json { try report.json.write(to: URL(fileURLWithPath: json), options: .atomic) }
  }
}
