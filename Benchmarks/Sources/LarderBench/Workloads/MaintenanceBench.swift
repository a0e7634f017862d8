import Dispatch
import Larder
import Synchronization

/// Purges of a store that syncs each commit to the disk.
struct MaintenanceBench {
  let store: Store
  let data: Dataset

  init(count: Int, directory: String) throws {
    data = Dataset(count: count, valueSize: 200)
    store = try Store(at: "\(directory)/bench-\(count)")
  }

  func fill(_ name: String, count: Int, expires: Expiration) throws {
    let namespace = store.namespace(name)
    for start in stride(from: 0, to: count, by: 10_000) {
      try store.write { batch in
        for index in start..<min(start + 10_000, count) {
          try batch.set(
            data.value(UInt32(index)), for: data.keys[index], in: namespace, expires: expires)
        }
      }
    }
  }

  /// Purges all entries while no other thread runs. Returns the nanoseconds.
  func alone() throws -> Double {
    try fill("due", count: data.count, expires: .after(.zero))
    return try purge()
  }

  /// Purges all entries while another thread writes. Returns the nanoseconds of the purge, and of each commit of that thread.
  func besideWriter() throws -> (whole: Double, waits: [Double]) {
    try fill("due", count: data.count, expires: .after(.zero))
    let isDone = Latch()
    let waits = Mutex<Result<[Double], any Error>>(.success([]))
    let group = DispatchGroup()
    DispatchQueue.global().async(group: group) {
      let outcome = Result {
        let other = store.namespace("other")
        var times: [Double] = []
        while !isDone.isSet {
          times.append(
            try nanoseconds { try other.set(Array("value".utf8), for: times.count % 1000) })
        }
        return times
      }
      waits.withLock { $0 = outcome }
    }
    let whole = try purge()
    isDone.set()
    group.wait()
    return (whole, try waits.withLock { try $0.get() })
  }

  /// The nanoseconds of purges without due entries, and of a purge of 1,000 entries while another namespace has many due entries.
  func little() throws -> (idle: [Double], one: Double) {
    try fill("due", count: data.count, expires: .after(.hours(24)))
    let idle = try (0..<31).map { _ in try nanoseconds { try store.purge() } }
    try fill("due", count: data.count, expires: .after(.zero))
    try fill("one", count: 1000, expires: .after(.zero))
    var removed = 0
    let one = try nanoseconds { removed = try store.namespace("one").purge().entries }
    guard removed == 1000 else { throw Failure("purged \(removed) of 1000") }
    return (idle, one)
  }

  private func purge() throws -> Double {
    var removed = 0
    let time = try nanoseconds { removed = try store.purge().entries }
    guard removed == data.count else { throw Failure("purged \(removed) of \(data.count)") }
    return time
  }
}
