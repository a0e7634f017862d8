import ArgumentParser

/// Measures how the time of operations grows with the number of stored entries.
struct GrowthCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "growth",
    abstract: "Random hits, inserts and openings from ten thousand entries to ten million.",
    discussion:
      "Takes the better part of an hour and some 30 GB of disk with all peers at ten million.")

  @OptionGroup var place: Place
  @OptionGroup var effort: Effort
  @OptionGroup var roster: Roster
  @OptionGroup var output: Output
  @Option(help: "How many entries; repeatable.")
  var count = [10_000, 100_000, 1_000_000, 10_000_000]

  private static let usual = ["larder", "lmdb", "lmdb-indexed", "sqlite", "rocksdb", "leveldb"]

  func run() throws {
    let kinds = try roster.kinds { !Self.usual.contains($0.id) }
    let settings = effort.settings
    let report = Report(settings: settings, kinds: kinds)
    try place.withDirectory { directory in
      for count in count {
        let scenario = Scenario(entries: count, valueSize: 200)
        report.note("\(scenario)")
        let reads = try Bench(
          scenario, kinds: kinds, level: { $0.readLevel }, spare: 0,
          directory: "\(directory)/reads-\(count)", settings: settings, report: report)
        try reads.space()
        try reads.reads()
        try reads.opening()
        try reads.memory()
        try reads.end()
        let writes = try Bench(
          scenario, kinds: kinds, level: \.writeLevel, spare: (settings.rounds + 2) * 20_000,
          directory: "\(directory)/writes-\(count)", settings: settings, report: report)
        try writes.inserts()
        try writes.refreshes()
        try writes.end()
      }
    }
    try output.write(report) {
      GrowthChart(
        report.rows, workload: "hit, random keys", title: "A random hit, by entries stored"
      ).svg()
    }
  }
}
