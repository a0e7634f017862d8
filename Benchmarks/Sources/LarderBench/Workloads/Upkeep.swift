import Dispatch
import Larder
import Synchronization

/// The longest wait of a writer beside a purge, each commit on the disk.
struct Upkeep {
  let store: Store
  let data: Dataset

  init(count: Int, directory: String) throws {
    data = Dataset(count: count, valueSize: 200)
    store = try Store(at: "\(directory)/upkeep-\(count)")
    let due = store.namespace("due")
    for start in stride(from: 0, to: count, by: 10_000) {
      try store.write { batch in
        for index in start..<min(start + 10_000, count) {
          try batch.set(
            data.value(UInt32(index)), for: data.keys[index], in: due, expires: .after(.zero))
        }
      }
    }
  }

  /// Purges everything beside a thread that writes; milliseconds of the whole, and of each of its commits.
  func run() throws -> (whole: Double, waits: [Double]) {
    let isDone = Latch()
    let waits = Mutex<Result<[Double], any Error>>(.success([]))
    let group = DispatchGroup()
    DispatchQueue.global().async(group: group) {
      let outcome = Result {
        let other = store.namespace("other")
        var times: [Double] = []
        while !isDone.isSet {
          times.append(try nanoseconds { try other.set("value", for: times.count % 1000) } / 1e6)
        }
        return times
      }
      waits.withLock { $0 = outcome }
    }
    var removed = 0
    let whole = try nanoseconds { removed = try store.purge().entries } / 1e6
    isDone.set()
    group.wait()
    guard removed == data.count else { throw Failure("purged \(removed) of \(data.count)") }
    return (whole, try waits.withLock { try $0.get() })
  }
}
