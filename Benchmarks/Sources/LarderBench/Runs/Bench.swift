import Foundation

/// The lengths of a run.
struct Settings: Sendable {
  /// The number of rounds of quick work, such as reads.
  var rounds: Int
  /// The number of rounds of work that takes a second or more, such as loading.
  var longRounds: Int
  /// The nanoseconds of a round of quick work.
  var roundTime: Double
  /// The clock for work of a single thread that waits for no disk.
  var clock = RunClock.wall
  /// Runs only workloads with one of these texts in their names; an empty list runs all.
  var only: [String] = []

  func wants(_ workload: String) -> Bool {
    only.isEmpty || only.contains { workload.contains($0) }
  }
}

/// Peers side by side, with the same entries in their stores.
final class Bench {
  let scenario: Scenario
  let data: Dataset
  let settings: Settings
  let report: Report
  private(set) var contenders: [Contender] = []

  /// Opens a store for each peer and fills it. A peer that cannot take part becomes a line with the reason.
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

  /// Runs several workloads that one measurement covers.
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

  /// Measures a workload of reads: as many as fit the time of a round. Verifies each round by its tally.
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

  /// The nanoseconds of an operation, over as many as fit the time of a round. The first round determines that number.
  func fit(
    _ contender: Contender, in counts: inout [String: Int], least: Int, most: Int = Orders.length,
    time: Double? = nil, _ run: (Int) throws -> (time: Double, count: Int)
  ) throws -> Double {
    let (id, time) = (contender.kind.id, time ?? settings.roundTime)
    var count = least
    while counts[id] == nil {
      let probe = try run(count)
      let fitting = min(most, max(least, Int(time / probe.time * Double(probe.count))))
      // Cold caches make a run slow that is much too short.
      if fitting < 2 * count { counts[id] = fitting }
      count = fitting
    }
    let round = try run(counts[id] ?? least)
    return round.time / Double(round.count)
  }

  /// Reads some entries through the store and checks them.
  func verify(_ contender: Contender) throws {
    let order = Orders.random(data, distinct: data.count, length: min(1000, data.count))
    let tally = try contender.session.read(order[...])
    guard tally == data.expected(order[...]) else {
      throw Failure("holds other bytes than were written")
    }
  }

  /// Adds the peer and the work to errors.
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

  /// Closes and removes every store.
  func end() throws {
    for contender in contenders {
      try contender.close()
      try FileManager.default.removeItemIfPresent(contender.site.directory)
    }
    contenders = []
  }
}
