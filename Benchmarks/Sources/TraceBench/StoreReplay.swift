import Foundation
import Larder

/// The store itself as one of the policies: a namespace with a limit, its access table, a read for each request and a write
/// for each miss.
struct StoreReplay: Sendable {
  /// What happens to the store on the way.
  struct Variant: Sendable {
    var name: String
    /// Half way through it is closed and opened again.
    var restarts = false
    var losesTable = false
    /// So many of a hundred hits are not noted.
    var lostTouches = 0
  }

  static let variants = [
    Variant(name: "store"),
    Variant(name: "store, restarted", restarts: true),
    Variant(name: "store, restarted without its table", restarts: true, losesTable: true),
    Variant(name: "store, 5 % of uses lost", lostTouches: 5),
    Variant(name: "store, 50 % of uses lost", lostTouches: 50),
  ]

  /// Where the stores are made: in memory if there is such a place, for their commits are put on the disk.
  var directory: String

  static var usualDirectory: String {
    let memory = "/dev/shm"
    return FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
  }

  /// Each variant in each cell, at most `jobs` at once.
  func cells(
    of traces: [Trace], percents: [Double], leastCapacity: Int, jobs: Int
  ) async throws -> [Study.Cell] {
    let work = traces.flatMap { trace in
      percents.flatMap { percent in
        let capacity = Int(Double(trace.keys) * percent / 100)
        return capacity < leastCapacity
          ? []
          : Self.variants.map {
            (trace: trace, percent: percent, capacity: capacity, variant: $0)
          }
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
    defer { try? FileManager.default.removeItem(atPath: path) }
    var cache = try Handle(path, capacity: capacity)
    var tally = Tally()
    for position in trace.requests.indices {
      if variant.restarts, position == trace.requests.count / 2 {
        try cache.store.close()
        if variant.losesTable { try FileManager.default.removeItem(atPath: path + "/access") }
        cache = try Handle(path, capacity: capacity)
      }
      // Spread evenly, and in no step with the requests.
      let isLost = position * 61 % 100 < variant.lostTouches
      let hit = try cache.access(Int(trace.requests[position]), notes: !isLost)
      tally.count(hit: hit, size: trace.sizes.isEmpty ? 0 : Int(trace.sizes[position]))
    }
    try cache.store.close()
    return tally
  }

  private struct Handle {
    let store: Store
    private let namespace: Namespace
    /// The same for reading alone, which leaves no notes.
    private let silent: Namespace

    init(_ path: String, capacity: Int) throws {
      store = try Store(at: path)
      namespace = store.namespace("trace")
      try store.declare(Rules(limits: Limits(entries: capacity)), for: namespace.name)
      var options = Store.Options()
      options.readOnly = true
      silent = try Store(at: path, options: options).namespace("trace")
    }

    func access(_ key: Int, notes: Bool) throws -> Bool {
      let hit = try (notes ? namespace : silent).withValue(for: "\(key)") { $0.count == 4 }
      if hit == true { return true }
      try namespace.set([1, 2, 3, 4], for: "\(key)")
      return false
    }
  }
}
