import BenchData
import FoundStores

extension PeerKind {
  static let tkrzw = PeerKind(
    id: "tkrzw", name: "tkrzw, hash store",
    usage:
      "a HashDBM with its defaults, mapped; deadline and value, read where they lie; no index, a purge looks at everything",
    promise: [
      .durable: "each write waits for a synchronization with the disk",
      .unsynced: "losing power can damage the whole file",
    ],
    isShared: false,
    missing: { tkrzw_missing().map { String(cString: $0) } },
    open: { site in try TkrzwPeer(site) })
}

/// Runs the loops of the C target, which contain no Swift code.
final class TkrzwPeer: Peer {
  private let store: Shared<OpaquePointer>
  private let data: Dataset

  init(_ site: Site) throws {
    guard let store = tkrzw_store_open(site.directory, site.level == .durable ? 1 : 0) else {
      throw Failure(String(cString: found_message()))
    }
    self.store = Shared(store)
    data = site.data
  }

  func session() -> any Session { TkrzwSession(store: store.value, data: data.raw.value) }

  func scan() throws -> Tally {
    var tally = bench_tally()
    try check(tkrzw_scan(store.value, &tally))
    return Tally(tally)
  }

  func purge() throws -> Int {
    var removed: UInt64 = 0
    try check(tkrzw_purge(store.value, bench_now(), &removed))
    return Int(removed)
  }

  func clear() throws { try check(tkrzw_clear(store.value)) }
  func close() throws { try check(tkrzw_store_close(store.value)) }
}

private struct TkrzwSession: Session {
  let store: OpaquePointer
  let data: bench_data

  func read(_ order: Order) throws -> Tally {
    var data = data
    var tally = bench_tally()
    try order.withUnsafeBufferPointer { order in
      try check(tkrzw_read(store, &data, order.baseAddress, order.count, &tally))
    }
    return Tally(tally)
  }

  func write(_ order: Order, lifetime: Lifetime) throws {
    var data = data
    try order.withUnsafeBufferPointer { order in
      try check(tkrzw_write(store, &data, order.baseAddress, order.count, lifetime.deadline))
    }
  }
}

private func check(_ result: Int32) throws {
  if result != 0 { throw Failure("tkrzw: " + String(cString: found_message())) }
}
