import Foundation

/// How long a run measures.
struct Settings: Sendable {
  /// The number of rounds of quick workloads, such as reads.
  var rounds: Int
  /// The number of rounds of workloads that take a second or more, such as loading.
  var longRounds: Int
  /// The nanoseconds of one round of a quick workload.
  var roundTime: Double
  /// The clock for workloads that use only one thread and do not wait for the disk.
  var clock = RunClock.wall
  /// Only workloads whose names contain one of these texts run. If the list is empty, all workloads run.
  var only: [String] = []

  func wants(_ workload: String) -> Bool {
    only.isEmpty || only.contains { workload.contains($0) }
  }
}

/// The stores of several peers with the same entries. A workload measures all of these stores.
final class Bench {
  let scenario: Scenario
  let data: Dataset
  let settings: Settings
  let report: Report
  private(set) var contenders: [Contender] = []

  /// Opens and fills a store for each peer. If a peer cannot take part, adds a line with the reason to the report.
  init(
    _ scenario: Scenario, kinds: [PeerKind], level: (PeerKind) -> Level?, spare: Int,
    directory: String, settings: Settings, report: Report
  ) throws {
    self.scenario = scenario
    self.settings = settings
    self.report = report
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    data = Dataset(count: scenario.entries, valueSize: scenario.valueSize, spare: spare)
    for kind in kinds {
      guard let level = level(kind) else { continue }
      if let reason = kind.missing()
        ?? (scenario.entries > kind.largestCount
          ? "left out above \(grouped(kind.largestCount)) entries" : nil)
      {
        report.leaveOut(kind, level: level, in: scenario, reason: reason)
        continue
      }
      let site = Site(directory: directory + "/" + kind.id, level: level, data: data)
      let contender = try Contender(kind, site: site)
      try naming(contender, "filling") {
        try contender.fill(0..<UInt32(scenario.entries))
        try verify(contender)
      }
      contenders.append(contender)
    }
  }

  /// Runs a workload in rounds; see ``Rounds/run(of:rounds:seed:_:)``.
  func measure(
    _ workload: String, unit: Unit = .nanoseconds, rounds: Int,
    _ body: (Contender, Int) throws -> Double
  ) throws {
    try measure([(workload, unit)], rounds: rounds) { [try body($0, $1)] }
  }

  /// Runs one measurement that gives the results of several workloads.
  func measure(
    _ workloads: [(name: String, unit: Unit)], rounds: Int,
    _ body: (Contender, Int) throws -> [Double]
  ) throws {
    guard workloads.contains(where: { settings.wants($0.name) }) else { return }
    let outcomes = try Rounds.run(of: contenders.count, rounds: rounds, seed: workloads[0].name) {
      index, round in
      try naming(contenders[index], workloads[0].name) { try body(contenders[index], round) }
    }
    let reference = contenders.firstIndex { $0.kind.id == PeerKind.reference }
    for (part, workload) in workloads.enumerated() {
      report.add(
        zip(contenders, outcomes).map { contender, outcome in
          Line(
            scenario, workload.name, peer: contender.kind.id, name: contender.kind.name,
            level: contender.site.level, unit: workload.unit, outcome: outcome,
            reference: reference.map { outcomes[$0] }, part: part)
        })
    }
  }

  /// Measures a workload of reads, with as many reads as fit the time of a round. The tally of each round must be as expected.
  func measureReads(
    _ workload: String, order: [UInt32], expecting: (Order) -> Tally,
    unless reason: (Contender) -> Unsupported? = { _ in nil }
  ) throws {
    var counts: [String: Int] = [:]
    try measure(workload, rounds: settings.rounds) { contender, round in
      if let reason = reason(contender) { throw reason }
      return try fit(contender, in: &counts, least: 1000) { count in
        let piece = Orders.piece(of: order, round: round, count: count)
        var tally = Tally()
        let time = try contender.time(on: settings.clock) { tally = try $0.read(piece) }
        let expected = expecting(piece)
        guard tally == expected else { throw Failure("read \(tally), not \(expected)") }
        return (time, piece.count)
      }
    }
  }

  /// The nanoseconds of one operation. As many operations run as fit the time of a round; the first round finds their number.
  func fit(
    _ contender: Contender, in counts: inout [String: Int], least: Int, most: Int = Orders.length,
    time: Double? = nil, _ run: (Int) throws -> (time: Double, count: Int)
  ) throws -> Double {
    let (id, time) = (contender.kind.id, time ?? settings.roundTime)
    var count = least
    while counts[id] == nil {
      let probe = try run(count)
      let fitting = min(most, max(least, Int(time / probe.time * Double(probe.count))))
      // With cold caches, the first number is too small. So if the number at least doubles, another run finds a new number.
      if fitting < 2 * count { counts[id] = fitting }
      count = fitting
    }
    let round = try run(counts[id] ?? least)
    return round.time / Double(round.count)
  }

  /// Reads some of the entries through the store, and checks the values.
  func verify(_ contender: Contender) throws {
    let order = Orders.random(data, distinct: data.count, length: min(1000, data.count))
    let tally = try contender.session.read(order[...])
    guard tally == data.expected(order[...]) else {
      throw Failure("holds other bytes than were written")
    }
  }

  /// Adds the name of the peer and of the workload to errors.
  func naming<Result>(_ contender: Contender, _ work: String, _ body: () throws -> Result) throws
    -> Result
  {
    do {
      return try body()
    } catch let error as Unsupported {
      throw error
    } catch {
      throw Failure("\(contender.kind.name), \(work): \(error)")
    }
  }

  /// Closes the stores and removes them.
  func end() throws {
    for contender in contenders {
      try contender.close()
      try FileManager.default.removeItemIfPresent(contender.site.directory)
    }
    contenders = []
  }
}
