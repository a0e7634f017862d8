import ArgumentParser
import Foundation

/// Runs every workload on every peer. A peer is a store that is compared with Larder, or Larder itself.
struct PeersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "peers", abstract: "Every peer at every workload; one table.")

  /// A part of the run. The stores of a part are filled once, and then all workloads of the part use them.
  enum Part: String, CaseIterable, ExpressibleByArgument {
    case reads, writes, durable, typed
  }

  @OptionGroup var place: Place
  @OptionGroup var effort: Effort
  @OptionGroup var roster: Roster
  @OptionGroup var output: Output
  @Option(help: "Entries and bytes of a value, such as 10000x200; repeatable.")
  var size: [Size] = [Size(10_000, 200), Size(1_000_000, 200), Size(20_000, 10_000)]
  @Option(help: "Only these: \(Part.allCases.map(\.rawValue).joined(separator: ", ")); repeatable.")
  var part: [Part] = []

  func run() throws {
    let kinds = try roster.kinds()
    let report = Report(settings: effort.settings, kinds: kinds)
    do {
      try place.withDirectory { directory in try measure(kinds, directory, report) }
    } catch {
      // A run takes long, so the results before the error are saved, and then the error ends the run.
      try output.write(report) { Chart(report.rows)?.svg() }
      throw error
    }
    try output.write(report) { Chart(report.rows)?.svg() }
    report.note("done")
  }

  private func measure(_ kinds: [PeerKind], _ directory: String, _ report: Report) throws {
    let parts = part.isEmpty ? Part.allCases : part
    for size in size {
      let scenario = Scenario(entries: size.entries, valueSize: size.valueSize)
      for part in parts where part != .typed && (part != .durable || !scenario.isLarge) {
        report.note("\(part.rawValue), \(scenario)")
        try Self.run(part, scenario, kinds, directory, report)
      }
    }
    if parts.contains(.typed) {
      try TypedBench(
        settings: report.settings, report: report, directory: directory + "/typed"
      ).run()
    }
  }

  private static func run(
    _ part: Part, _ scenario: Scenario, _ kinds: [PeerKind], _ directory: String,
    _ report: Report
  ) throws {
    var settings = report.settings
    // In a large store a long round takes minutes, so there is only one long round.
    if scenario.isLarge { settings.longRounds = 1 }
    // Spare entries are for the inserts of each round, and for expired entries, which are half as many as the stored entries.
    let spare = part == .reads ? 0 : max(scenario.entries / 2, (settings.rounds + 2) * 20_000)
    let bench = try Bench(
      scenario, kinds: kinds, level: { part.level(of: $0) }, spare: spare,
      directory: "\(directory)/\(part.rawValue)-\(scenario.entries)-\(scenario.valueSize)",
      settings: settings, report: report)
    switch part {
    case .reads:
      try bench.space()
      try bench.reads()
      if scenario.valueSize > 4096 { try bench.firstReads() }
      try bench.threads()
      try bench.processes()
      try bench.opening()
      try bench.memory()
    case .writes:
      // Inserts make a small store many times larger. So the workloads that need a small store come before the inserts.
      try bench.mixed()
      try bench.refreshes()
      try bench.singles()
      try bench.singlesWithoutPause()
      try bench.paced()
      try bench.crowd()
      try bench.inserts()
      try bench.purging()
      try bench.readsBesideRemovals()
      try bench.evictions()
      try bench.loading()
    case .durable:
      try bench.singles()
      try bench.crowd()
      try bench.inserts()
      try bench.refreshes()
      try bench.amplification(batch: 1)
      try bench.amplification(batch: Bench.batch)
    case .typed:
      break
    }
    try bench.end()
  }
}

extension PeersCommand.Part {
  /// The durability level at which a peer takes part; nil if the peer does not take part.
  fileprivate func level(of kind: PeerKind) -> Level? {
    switch self {
    case .reads, .typed: kind.readLevel
    case .writes: kind.writeLevel
    case .durable:
      kind.readsOnly || kind.promise[.durable] == nil ? nil : .durable
    }
  }
}

/// The number of entries, and the size of a value.
struct Size: ExpressibleByArgument, CustomStringConvertible {
  var entries: Int
  var valueSize: Int

  init(_ entries: Int, _ valueSize: Int) {
    self.entries = entries
    self.valueSize = valueSize
  }

  init?(argument: String) {
    let numbers = argument.split(separator: "x").compactMap { Int($0) }
    guard numbers.count == 2, numbers[0] >= 1000, numbers[1] >= 1 else { return nil }
    self.init(numbers[0], numbers[1])
  }

  var description: String { "\(entries)x\(valueSize)" }
}
