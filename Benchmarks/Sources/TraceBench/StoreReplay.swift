import Foundation
import Larder

/// Replays traces with the store itself. A namespace has a limit of entries and the access table of the store. Each request is
/// a read, and each miss is also a write.
struct StoreReplay: Sendable {
  /// The store in the second half of a replay: unchanged, restarted, or restarted without its access table.
  enum Variant: String, CaseIterable, Sendable {
    case undisturbed = "store"
    case restarted = "store, restarted"
    case robbed = "store, restarted without its table"

    var name: String { rawValue }
  }

  /// The most misses that are written in one batch. In a small cache, each miss is a batch. Evictions take place in these
  /// writes. A miss is always written before the next request of its key.
  private static func mostWaiting(capacity: Int) -> Int { min(max(capacity / 30, 1), 16) }
  /// The time between two requests, so that uses become as old as in the traffic of a day. The time is the same in every run.
  private static let timeBetweenRequests = Duration.milliseconds(100)

  /// The directory of the stores. Each commit is flushed, so a directory in memory is faster than a disk.
  var directory: String

  static var usualDirectory: String {
    let memory = "/dev/shm"
    return FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
  }

  /// Replays each variant in each cell. At most `jobs` replays run at the same time. Long traces are first.
  func cells(
    of traces: [Trace], percents: [Double], leastCapacity: Int,
    variants: [Variant] = Variant.allCases, jobs: Int
  ) async throws -> [Study.Cell] {
    let work = traces.sorted { $0.requests.count > $1.requests.count }.flatMap { trace in
      trace.capacities(percents, least: leastCapacity).flatMap { percent, capacity in
        variants.map { (trace: trace, percent: percent, capacity: capacity, variant: $0) }
      }
    }
    return try await limited(work, jobs: jobs) { item in
      Study.Cell(
        trace: item.trace.name, percent: item.percent, capacity: item.capacity,
        policy: item.variant.name,
        tally: try replay(item.trace, capacity: item.capacity, item.variant))
    }
  }

  func replay(_ trace: Trace, capacity: Int, _ variant: Variant) throws -> Tally {
    let path = directory + "/larder-traces-" + UUID().uuidString
    var cache = try Handle(path, capacity: capacity, clock: ManualClock())
    var tally = Tally()
    for position in trace.requests.indices {
      if variant != .undisturbed, position == trace.requests.count / 2 {
        try cache.close()
        if variant == .robbed { try FileManager.default.removeItem(atPath: path + "/access") }
        cache = try Handle(path, capacity: capacity, clock: cache.clock)
      }
      let size = trace.sizes.isEmpty ? nil : Int(trace.sizes[position])
      let hit = try cache.access(trace.requests[position], size: size)
      tally.count(hit: hit, size: size ?? 0)
    }
    try cache.close()
    try FileManager.default.removeItem(atPath: path)
    return tally
  }

  private struct Handle {
    let clock: ManualClock
    private let store: Store
    private let namespace: Store.Namespace
    private let mostWaiting: Int
    private var waiting: [(key: Int32, size: Int)] = []

    init(_ path: String, capacity: Int, clock: ManualClock) throws {
      self.clock = clock
      mostWaiting = StoreReplay.mostWaiting(capacity: capacity)
      var options = Store.Options()
      options.clock = clock
      store = try Store(at: path, options: options)
      namespace = store.namespace("trace")
      try store.declare(Rules(limits: Limits(entries: capacity)), for: namespace.name)
    }

    mutating func access(_ key: Int32, size: Int?) throws -> Bool {
      clock.advance(by: StoreReplay.timeBetweenRequests)
      if waiting.contains(where: { $0.key == key }) { try write() }
      if try namespace.withValue(for: "\(key)", { _ in true }) == true { return true }
      waiting.append((key, size ?? 8))
      if waiting.count == mostWaiting { try write() }
      return false
    }

    private mutating func write() throws {
      try store.write { batch in
        for (key, size) in waiting {
          try batch.set([UInt8](repeating: 1, count: size), for: "\(key)", in: namespace)
        }
      }
      waiting.removeAll(keepingCapacity: true)
    }

    mutating func close() throws {
      try write()
      try store.close()
    }
  }
}
