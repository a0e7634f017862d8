import BenchData
import Synchronization

extension PeerKind {
  static let dictionary = PeerKind(
    id: "dictionary", name: "Dictionary, locked",
    usage: "a Swift dictionary of byte arrays and deadlines behind a Mutex",
    promise: [.memory: "nothing outlives the process"], readLevel: .memory, isShared: false,
    open: { site in DictionaryPeer(site) })
}

final class DictionaryPeer: Peer {
  struct Item {
    var value: [UInt8]
    var deadline: UInt64
  }

  private let items = Mutex<[String: Item]>([:])
  private let data: Dataset

  init(_ site: Site) { data = site.data }

  func session() -> any Session { DictionarySession(peer: self, data: data) }

  func item(_ key: String) -> Item? { items.withLock { $0[key] } }

  func set(_ entries: [(String, Item)]) {
    items.withLock { items in for (key, item) in entries { items[key] = item } }
  }

  func scan() -> Tally {
    let now = bench_now()
    return items.withLock { items in
      var tally = Tally()
      for item in items.values where item.deadline > now {
        tally.found += 1
        tally.sum &+= item.value.withUnsafeBytes { Touch.sum($0) }
      }
      return tally
    }
  }

  func purge() -> Int {
    let now = bench_now()
    return items.withLock { items in
      let before = items.count
      items = items.filter { $0.value.deadline > now }
      return before - items.count
    }
  }

  func clear() { items.withLock { $0 = [:] } }
  func close() {}
}

private struct DictionarySession: Session {
  let peer: DictionaryPeer
  let data: Dataset

  func read(_ order: Order) -> Tally {
    let keys = data.keys
    var tally = Tally()
    for index in order {
      guard let item = peer.item(keys[Int(index)]), item.deadline > bench_now() else { continue }
      tally.found += 1
      tally.sum &+= item.value.withUnsafeBytes { Touch.sum($0) }
    }
    return tally
  }

  func write(_ order: Order, lifetime: Lifetime) {
    let deadline = lifetime.deadline
    peer.set(
      order.map { index in
        // Copies the value, because in an application each value would have its own memory.
        (
          data.keys[Int(index)],
          .init(value: data.value(index).map { $0 }, deadline: deadline)
        )
      })
  }
}
