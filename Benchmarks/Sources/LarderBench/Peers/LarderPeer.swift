import Dispatch
import Larder
import Synchronization

extension PeerKind {
  static let larder = PeerKind(
    id: "larder", name: "Larder",
    usage: "withValue on String keys; checksum, expiry and accounting included",
    promise: [
      .durable: "each commit is on the disk",
      .unsynced: "the default: losing power loses the newest writes, those of 200 ms and a sync",
    ],
    loadsSorted: true, worksInBackground: true,
    open: { site in try LarderPeer(site, writeBuffer: Store.Options().writeBuffer) })

  static let larderUnbuffered = PeerKind(
    id: "larder-unbuffered", name: "Larder, no buffer",
    usage: "the same without a write buffer",
    promise: [.unsynced: "losing power loses the newest writes: 200 ms and a sync"],
    loadsSorted: true,
    open: { site in try LarderPeer(site, writeBuffer: 0) })
}

final class LarderPeer: Peer {
  private let store: Store
  private let namespace: Store.Namespace
  private let data: Dataset

  init(_ site: Site, writeBuffer: Int) throws {
    var options = Store.Options()
    options.writeBuffer = writeBuffer
    options.durability = site.level == .durable ? .durable : .checkpointed
    store = try Store(at: site.directory, options: options)
    namespace = store.namespace("entries")
    data = site.data
  }

  func session() -> any Session { LarderSession(namespace: namespace, data: data) }

  func scan() throws -> Tally {
    var tally = Tally()
    try namespace.scanValues { _, bytes in
      tally.found += 1
      for at in stride(from: 0, to: bytes.count, by: 64) { tally.sum &+= UInt64(bytes[at]) }
      return true
    }
    return tally
  }

  func purge() throws -> Int { try store.purge().entries }
  func clear() throws { try namespace.clear() }
  func close() throws { try store.close() }

  func limit() throws { try limit(to: try namespace.count()) }

  func evict(_ count: Int) throws {
    try limit(to: try namespace.count() - count)
    try limit(to: nil)
  }

  private func limit(to entries: Int?) throws {
    try store.declare(Rules(limits: Limits(entries: entries)), for: namespace.name)
  }

  func writeInTasks(_ pieces: [Order]) throws -> Double {
    let done = DispatchSemaphore(value: 0)
    let outcome = Mutex<Result<Double, any Error>?>(nil)
    let (namespace, data) = (namespace, data)
    Task.detached {
      do {
        let start = ContinuousClock.now
        try await withThrowingTaskGroup { tasks in
          for piece in pieces {
            tasks.addTask {
              for index in piece {
                try await namespace.set(
                  data.value(index), for: data.keys[Int(index)], expires: .after(.hours(24)))
              }
            }
          }
          try await tasks.waitForAll()
        }
        let time = (ContinuousClock.now - start) / .nanoseconds(1)
        outcome.withLock { $0 = .success(time) }
      } catch {
        outcome.withLock { $0 = .failure(error) }
      }
      done.signal()
    }
    done.wait()
    return try outcome.withLock { try $0!.get() }
  }
}

private struct LarderSession: Session {
  let namespace: Store.Namespace
  let data: Dataset

  func read(_ order: Order) throws -> Tally {
    let keys = data.keys
    var tally = Tally()
    for index in order {
      let sum = try namespace.withValue(for: keys[Int(index)]) { bytes in
        var sum: UInt64 = 0
        for at in stride(from: 0, to: bytes.count, by: 64) { sum &+= UInt64(bytes[at]) }
        return sum
      }
      if let sum {
        tally.found += 1
        tally.sum &+= sum
      }
    }
    return tally
  }

  func write(_ order: Order, lifetime: Lifetime) throws {
    let expires = lifetime == .day ? Expiration.after(.hours(24)) : .after(.zero)
    if order.count == 1, let index = order.first {
      try namespace.set(data.value(index), for: data.keys[Int(index)], expires: expires)
      return
    }
    try namespace.store.write { batch in
      for index in order {
        try batch.set(
          data.value(index), for: data.keys[Int(index)], in: namespace, expires: expires)
      }
    }
  }
}
