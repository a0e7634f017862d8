import Larder
import LarderShared
import LarderSharedTesting

/// The time in which a machine catches up with missed records of keys that it does not have, and for comparison the time of a
/// lookup in the machine's store.
struct RecordCost {
  private static let namespace = "records"
  private static let stored = 10_000

  /// The time for one record of the log.
  let record: Duration
  /// The time for one lookup of a stored key.
  let lookup: Duration

  /// - Parameters:
  ///   - tier: delivers the records.
  ///   - count: the number of changes that the machine has missed.
  static func measure(
    on tier: any SharedTier, records count: Int, _ options: SharedOptions
  ) async throws -> RecordCost {
    let link = TierLink(to: tier)
    let store = try Store.temporary()
    let cache = store.cache(
      TextCodec(), in: namespace, memory: .off, shared: Shared(link, options: options))
    // The first copy removes the earlier entries of the namespace, so the copy comes first.
    _ = try await cache.value(for: "here") { "loaded" }
    for index in 0..<stored { try await cache.local.set("value", for: "\(index)") }
    try await Measurement.until { try await cache.result(for: "here") { "loaded" }.isConfirmed }
    link.cut()
    try await Task.sleep(for: .seconds(3))
    for index in 0..<count {
      // Each key lies between two stored keys, and successive keys are not neighbours.
      let key = SharedKey(
        namespace: namespace, bytes: Array("\(index &* 7919 % stored) \(index)".utf8))
      _ = try await tier.change(.remove(key))
    }
    return RecordCost(
      record: try await catchUp(cache, with: count, by: link), lookup: try lookUp(in: store))
  }

  private static func catchUp(
    _ cache: SharedCache<String>, with count: Int, by link: TierLink
  ) async throws -> Duration {
    let before = cache.shared.statistics.records
    link.restore()
    /// The time at which `records` records were applied.
    func moment(of records: Int) async throws -> ContinuousClock.Instant {
      while cache.shared.statistics.records - before < records {
        try await Task.sleep(for: .microseconds(200))
      }
      return .now
    }
    // After the first reply, the time no longer includes the wait for the connection.
    let start = try await moment(of: 500)
    let first = cache.shared.statistics.records - before
    return start.duration(to: try await moment(of: count)) / (count - first)
  }

  private static func lookUp(in store: Store) throws -> Duration {
    let namespace = store.namespace(Self.namespace)
    let keys = (0..<stored).map { "\($0 &* 7919 % stored)" }
    let times = try (0..<20).map { _ in
      let start = ContinuousClock.now
      for key in keys { _ = try namespace.withValue(for: key) { $0.count } }
      return start.duration(to: .now)
    }
    return times.sorted()[times.count / 2] / stored
  }
}
