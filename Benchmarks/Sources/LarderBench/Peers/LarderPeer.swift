import Larder

extension PeerKind {
  static let larder = PeerKind(
    id: "larder", name: "Larder",
    usage: "withValue on String keys; checksum, expiry and accounting included",
    promise: [
      .durable: "each commit is on the disk",
      .unsynced: "a temporary store, whose commits are not put on the disk",
    ],
    readLevel: .durable, loadsSorted: true,
    open: { site in try LarderPeer(site) })
}

final class LarderPeer: Peer {
  private let store: Store
  private let namespace: Namespace
  private let data: Dataset

  init(_ site: Site) throws {
    store = site.level == .durable ? try Store(at: site.directory) : try Store.temporary()
    namespace = store.namespace("entries")
    data = site.data
  }

  func session() -> any Session { LarderSession(namespace: namespace, data: data) }

  func scan() throws -> Tally {
    var tally = Tally()
    try namespace.scan { _, bytes in
      tally.found += 1
      for at in stride(from: 0, to: bytes.count, by: 64) { tally.sum &+= UInt64(bytes[at]) }
      return true
    }
    return tally
  }

  func purge() throws -> Int { try store.purge().entries }
  func clear() throws { try namespace.clear() }
  func close() throws { try store.close() }

  func limit() throws {
    try store.declare(Rules(limits: Limits(entries: try namespace.count())), for: namespace.name)
  }
}

private struct LarderSession: Session {
  let namespace: Namespace
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
