import Dispatch
import Larder
import Synchronization

/// What must not depend on how much is stored: opening, clearing, and the longest wait of a writer beside a purge.
struct Upkeep {
  let path: String
  let workload: Workload

  init(count: Int, directory: String) throws {
    path = "\(directory)/upkeep-\(count)"
    workload = Workload(count: count)
    let store = try Store(at: path)
    try Self.fill(store.namespace("entries"), with: workload.keys, expires: .after(.hours(24)))
    try store.close()
  }

  static func fill(_ namespace: Namespace, with keys: [String], expires: Expiration) throws {
    let value = [UInt8](repeating: 118, count: 200)
    for start in stride(from: 0, to: keys.count, by: 10_000) {
      try namespace.store.write { batch in
        for key in keys[start..<min(start + 10_000, keys.count)] {
          try batch.set(value, for: key, in: namespace, expires: expires)
        }
      }
    }
  }

  /// Milliseconds to open the store and read one entry.
  func open() throws -> Sample {
    var sample = Sample()
    for round in 0..<31 {
      let time = try nanoseconds {
        let store = try Store(at: path)
        let found = try store.namespace("entries").contains(workload.keys[round * 7])
        precondition(found)
      }
      sample.nanoseconds.append(time / 1e6)
    }
    return sample
  }

  /// Milliseconds to clear the namespace.
  func clear() throws -> Double {
    let store = try Store(at: path)
    return try nanoseconds { try store.namespace("entries").clear() } / 1e6
  }

  /// Purges `count` expired entries beside a writer; milliseconds for the whole, and the writer's waits.
  static func purge(count: Int, directory: String) throws -> (
    whole: Double, batches: Int, waits: Sample, longest: Double
  ) {
    let store = try Store(at: "\(directory)/purge-\(count)")
    try fill(store.namespace("due"), with: Workload(count: count).keys, expires: .after(.zero))
    let isDone = Atomic(false)
    let waits = Mutex(Sample())
    let group = DispatchGroup()
    DispatchQueue.global().async(group: group) {
      let other = store.namespace("other")
      var index = 0
      while !isDone.load(ordering: .relaxed) {
        index += 1
        let time = (try? nanoseconds { try other.set("value", for: index % 1000) }) ?? .infinity
        waits.withLock { $0.nanoseconds.append(time / 1e6) }
      }
    }
    var removed = 0
    let whole = try nanoseconds { removed = try store.purge().entries } / 1e6
    isDone.store(true, ordering: .relaxed)
    group.wait()
    precondition(removed == count)
    let all = waits.withLock { $0 }
    return (whole, (count + 499) / 500, all, all.nanoseconds.max() ?? .nan)
  }

  /// What a purge costs that has little to do: nothing due, and one namespace beside `count` due entries of another.
  static func purgeLittle(count: Int, directory: String) throws -> (idle: Sample, one: Double) {
    let store = try Store(at: "\(directory)/little-\(count)")
    let keys = Workload(count: count).keys
    try fill(store.namespace("due"), with: keys, expires: .after(.hours(24)))
    var idle = Sample()
    for _ in 0..<31 {
      idle.nanoseconds.append(try nanoseconds { try store.purge() } / 1e3)
    }
    try fill(store.namespace("due"), with: keys, expires: .after(.zero))
    try fill(store.namespace("one"), with: Array(keys.prefix(1000)), expires: .after(.zero))
    var removed = 0
    let one = try nanoseconds { removed = try store.namespace("one").purge().entries } / 1e6
    precondition(removed == 1000)
    return (idle, one)
  }

  /// Milliseconds to purge `count` expired entries with nobody else there.
  static func purgeAlone(count: Int, directory: String) throws -> Double {
    let store = try Store(at: "\(directory)/alone-\(count)")
    try fill(store.namespace("due"), with: Workload(count: count).keys, expires: .after(.zero))
    var removed = 0
    let whole = try nanoseconds { removed = try store.purge().entries } / 1e6
    precondition(removed == count)
    return whole
  }
}
