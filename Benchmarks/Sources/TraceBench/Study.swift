/// The policies, the traces and the capacities of a study.
struct Study: Sendable {
  static let policies: [any Policy.Type] = [
    OPT.self, Adaptive<ExactTable>.self, Adaptive<TaggedTable>.self, S3FIFO.self, ARC.self,
    WTinyLFU<HillClimbing>.self, WTinyLFU<FixedWindow>.self, SIEVE.self, CLOCK.self, LRU.self,
    FIFO.self,
  ]

  /// The capacities, as percentages of the number of different keys in a trace.
  var percents = [0.1, 1, 3, 10, 30]
  /// Smaller caches are omitted, because with few entries the result depends on chance.
  var leastCapacity = 50
  var policies = Self.policies

  struct Cell: Codable, Sendable {
    var trace: String
    var percent: Double
    var capacity: Int
    var policy: String
    var tally: Tally
  }

  /// Runs each cell in a task, at most `jobs` at the same time. Long traces are first, so that no core waits long at the end.
  func cells(of traces: [Trace], jobs: Int) async throws -> [Cell] {
    let work = traces.sorted { $0.requests.count > $1.requests.count }.flatMap { trace in
      trace.capacities(percents, least: leastCapacity).flatMap { percent, capacity in
        policies.map { (trace: trace, percent: percent, capacity: capacity, policy: $0) }
      }
    }
    return try await limited(work, jobs: jobs) { item in
      Cell(
        trace: item.trace.name, percent: item.percent, capacity: item.capacity,
        policy: item.policy.name, tally: item.policy.replay(item.trace, capacity: item.capacity))
    }
  }
}

extension Trace {
  /// The capacities for a trace, each as a percentage of the number of different keys and as a number of entries.
  func capacities(_ percents: [Double], least: Int) -> [(percent: Double, entries: Int)] {
    if let capacity { return [(100 * Double(capacity) / Double(max(1, keys)), capacity)] }
    return percents.map { ($0, Int(Double(keys) * $0 / 100)) }.filter { $0.1 >= least }
  }
}

/// The results of `body`, in the order of `items`. At most `jobs` calls run at the same time.
func limited<Item: Sendable, Result: Sendable>(
  _ items: [Item], jobs: Int, _ body: @escaping @Sendable (Item) throws -> Result
) async throws -> [Result] {
  try await withThrowingTaskGroup(of: (Int, Result).self) { group in
    var results: [Result?] = Array(repeating: nil, count: items.count)
    var waiting = items.enumerated().makeIterator()
    func start(_ group: inout ThrowingTaskGroup<(Int, Result), any Error>) {
      guard let (index, item) = waiting.next() else { return }
      group.addTask { (index, try body(item)) }
    }
    for _ in 0..<max(1, jobs) { start(&group) }
    while let (index, result) = try await group.next() {
      results[index] = result
      start(&group)
    }
    return results.compactMap { $0 }
  }
}
