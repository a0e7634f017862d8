/// Compares a run with the project's goals.
struct Goals {
  private struct Goal {
    var work: String
    var goal: String
    /// The measured value, or nil if the run does not contain this value.
    var reached: Double?
    var bound: Bound
    var unit = "x"
  }

  private enum Bound {
    case atMost(Double)
    case atLeast(Double)

    func holds(_ value: Double) -> Bool {
      switch self {
      case .atMost(let most): value <= most
      case .atLeast(let least): value >= least
      }
    }
  }

  private static let small = Scenario(entries: 10_000, valueSize: 200)
  private static let million = Scenario(entries: 1_000_000, valueSize: 200)
  private static let large = Scenario(entries: 20_000, valueSize: 10_000)

  private let document: Document

  init(_ document: Document) { self.document = document }

  func markdown() -> String {
    let rows = goals.compactMap { goal in
      goal.reached.map { value in
        let text = Unit.factor.text(value).dropLast(2) + " " + goal.unit
        return
          "| \(goal.work) | \(goal.goal) | \(goal.bound.holds(value) ? text : "**\(text)**, missed") |"
      }
    }
    if rows.isEmpty { return "" }
    return (["### Goals", "", "| work | goal | reached |", "| --- | --- | --- |"] + rows)
      .joined(separator: "\n") + "\n"
  }

  private var goals: [Goal] { hits + [typed, writes, others].flatMap { $0 } }

  private var hits: [Goal] {
    var goals: [Goal] = []
    for (scenario, size) in [(Self.small, "10,000"), (Self.million, "a million")] {
      goals += [
        Goal(
          work: "hit, hot, \(size)", goal: "at most 1.25 x LMDB in C",
          reached: ratio("hit, hot keys", scenario), bound: .atMost(1.25)),
        Goal(
          work: "hit, random, \(size)", goal: "at most 1.15 x LMDB in C",
          reached: ratio("hit, random keys", scenario), bound: .atMost(1.15)),
      ]
      for (peer, name) in [("sqlite", "SQLite"), ("rocksdb", "RocksDB")] {
        goals.append(
          Goal(
            work: "hit, hot, \(size), beside \(name)", goal: "at least 6 x faster",
            reached: over("hit, hot keys", peer, scenario), bound: .atLeast(6)))
      }
    }
    for (peer, name) in [("sqlite", "SQLite"), ("rocksdb", "RocksDB")] {
      goals.append(
        Goal(
          work: "hit, random, a million, beside \(name)", goal: "at least 3.5 x faster",
          reached: over("hit, random keys", peer, Self.million), bound: .atLeast(3.5)))
    }
    return goals + [
      Goal(
        work: "hit, 10 KB, first read", goal: "at most 1.25 x LMDB in C with the checksum",
        reached: over("hit, first read after opening", "lmdb-checked", Self.large).map { 1 / $0 },
        bound: .atMost(1.25)),
      Goal(
        work: "hit, 10 KB, afterwards", goal: "at most 1.25 x LMDB in C",
        reached: ratio("hit, random keys", Self.large), bound: .atMost(1.25)),
    ]
  }

  private var typed: [Goal] {
    let (memory, scan, contains) = ("typed hit, from memory", "typed scan, per entry", "contains")
    return [
      Goal(
        work: memory, goal: "at most 0.4 x LMDB in C",
        reached: divided((memory, "larder"), (memory, PeerKind.reference)), bound: .atMost(0.4)),
      Goal(
        work: memory, goal: "at most 1.1 x a locked dictionary",
        reached: divided((memory, "larder"), (memory, "dictionary")), bound: .atMost(1.1)),
      Goal(
        work: scan, goal: "at most 1.1 x JSONDecoder on the same bytes",
        reached: divided((scan, "larder"), (scan, "decoder")), bound: .atMost(1.1)),
      Goal(
        work: contains, goal: "at most 1 x withValue",
        reached: divided((contains, "larder"), (contains, "value")), bound: .atMost(1)),
    ]
  }

  private var writes: [Goal] {
    var goals: [Goal] = []
    let most: [(work: String, peer: String, small: Double, million: Double)] = [
      ("single write", PeerKind.reference, 0.2, 0.1),
      ("single writes without a pause", PeerKind.reference, 0.4, 0.3),
      ("95 reads to 5 writes, Zipf keys", PeerKind.reference, 0.6, 0.6),
      ("insert, batches of 1,000", "lmdb-indexed", 1, 1),
      ("overwrite, batches of 1,000", PeerKind.reference, 1.1, 1.1),
      ("bulk load, per entry", PeerKind.reference, 1.8, 1.8),
      ("bulk load, per entry", "rocksdb", 0.5, 0.5),
      ("purge, per expired entry", "lmdb-indexed", 1, 1),
    ]
    for (scenario, size) in [(Self.small, "10,000"), (Self.million, "a million")] {
      goals += most.map { work, peer, small, million in
        let ratio = scenario == Self.small ? small : million
        return Goal(
          work: "\(work), \(size)",
          goal: "at most \(ratio) x \(PeerKind.named(peer)?.name ?? peer)",
          reached: over(work, peer, scenario).map { 1 / $0 }, bound: .atMost(ratio))
      }
      let most = scenario == Self.small ? 1 : 1.5
      goals.append(
        Goal(
          work: "insert, batches of 1,000, \(size)", goal: "at most \(most) x RocksDB",
          reached: over("insert, batches of 1,000", "rocksdb", scenario).map { 1 / $0 },
          bound: .atMost(most)))
    }
    goals.append(
      Goal(
        work: "64 tasks, no sync", goal: "at least 1.3 x the rate of RocksDB's single puts",
        reached: divided(
          ("single write", "rocksdb"), ("64 tasks, time of a write", "larder"), Self.small,
          level: .unsynced), bound: .atLeast(1.3)))
    goals.append(
      Goal(
        work: "64 durable writers", goal: "at least 15 x the rate of one",
        reached: value("64 writers, times the rate of one", "larder", Self.small, .durable),
        bound: .atLeast(15)))
    for batch in ["1", "1,000"] {
      let work = "bytes written a commit, batches of \(batch)"
      let mine = value(work, "larder", Self.small, .durable)
      let theirs = value(work, PeerKind.reference, Self.small, .durable)
      goals.append(
        Goal(
          work: "bytes written by \(batch) refreshed", goal: "at most 3 pages more than LMDB in C",
          reached: mine.flatMap { mine in theirs.map { (mine - $0) / 4096 } }, bound: .atMost(3),
          unit: "pages"))
    }
    return goals
  }

  private var others: [Goal] {
    let random = "hit, random keys"
    return [
      Goal(
        work: "bytes on disk, 10,000", goal: "at most 1.35 x LMDB in C",
        reached: ratio("bytes on disk, per entry", Self.small), bound: .atMost(1.35)),
      Goal(
        work: "scan, 10,000", goal: "at most 1.5 x LMDB in C",
        reached: ratio("scan, per entry", Self.small), bound: .atMost(1.5)),
      Goal(
        work: "miss", goal: "no dearer than a hit",
        reached: divided(("miss", "larder"), (random, "larder"), Self.small), bound: .atMost(1)),
      Goal(
        work: "expired", goal: "no dearer than a hit",
        reached: divided(("expired", "larder"), (random, "larder"), Self.small), bound: .atMost(1)),
      Goal(
        work: "two reader threads", goal: "at least 0.95 x LMDB's own scaling",
        reached: ratio("two threads, times the rate of one", Self.small), bound: .atLeast(0.95)),
    ]
      + ["a purge", "an eviction"].map { work in
        Goal(
          work: "p99.9 of hits beside \(work) of 500,000", goal: "at most 3 x idle",
          reached: value(
            "hit, p99.9, beside \(work), times that before", "larder", Self.million, .unsynced),
          bound: .atMost(3))
      }
  }

  // MARK: - Figures

  private func row(
    _ work: String, _ peer: String, _ scenario: Scenario?, _ level: Level?
  ) -> Line? {
    document.rows.first { row in
      row.workload == work && row.peer == peer && row.figure != nil
        && (scenario == nil || row.scenario == scenario) && (level == nil || row.level == level)
    }
  }

  private func value(
    _ work: String, _ peer: String, _ scenario: Scenario?, _ level: Level? = nil
  ) -> Double? {
    row(work, peer, scenario, level)?.figure?.median
  }

  /// The time of Larder divided by the time of LMDB in C.
  private func ratio(_ work: String, _ scenario: Scenario) -> Double? {
    row(work, "larder", scenario, nil)?.ratio?.median
  }

  /// The rate of Larder divided by the rate of another peer. For writes, uses the first measured level.
  private func over(_ work: String, _ peer: String, _ scenario: Scenario) -> Double? {
    divided((work, peer), (work, "larder"), scenario)
  }

  private func divided(
    _ above: (work: String, peer: String), _ below: (work: String, peer: String),
    _ scenario: Scenario? = nil, level: Level? = nil
  ) -> Double? {
    guard let above = value(above.work, above.peer, scenario, level),
      let below = value(below.work, below.peer, scenario, level)
    else { return nil }
    return above / below
  }
}
