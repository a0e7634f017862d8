import BenchData
import LSMStores

extension PeerKind {
  private static let promise: [Level: String] = [
    .durable: "each write waits for its log to be on the disk",
    .unsynced: "losing power loses the newest writes and damages nothing",
  ]
  private static let usage =
    "deadline and value, no index; Bloom filter of 10 bits, block cache of 512 MB, write buffer of 64 MB"

  static let rocksDB = PeerKind(
    id: "rocksdb", name: "RocksDB", usage: usage + "; pinned reads", promise: promise,
    worksInBackground: true, isShared: false,
    missing: { lsm_missing(lsm_rocksdb).map { String(cString: $0) } },
    open: { site in try LSMPeer(site, kind: lsm_rocksdb) })

  static let levelDB = PeerKind(
    id: "leveldb", name: "LevelDB", usage: usage, promise: promise,
    worksInBackground: true, isShared: false,
    missing: { lsm_missing(lsm_leveldb).map { String(cString: $0) } },
    open: { site in try LSMPeer(site, kind: lsm_leveldb) })
}

/// RocksDB or LevelDB. The loops are in C.
final class LSMPeer: Peer {
  private static let cacheSize = 512 << 20
  private static let purgedPerWrite = 1000

  private let store: Shared<OpaquePointer>
  private let data: Dataset

  init(_ site: Site, kind: lsm_kind) throws {
    guard
      let store = lsm_open(kind, site.directory, Self.cacheSize, site.level == .durable ? 1 : 0)
    else { throw Failure(String(cString: lsm_message())) }
    self.store = Shared(store)
    data = site.data
  }

  func session() -> any Session { LSMSession(store: store.value, data: data.raw.value) }

  func scan() throws -> Tally {
    var tally = bench_tally()
    try check(lsm_scan(store.value, &tally))
    return Tally(tally)
  }

  func purge() throws -> Int {
    var removed: UInt64 = 0
    try check(lsm_purge(store.value, bench_now(), Self.purgedPerWrite, &removed))
    return Int(removed)
  }

  func clear() throws { try check(lsm_clear(store.value)) }
  func close() { lsm_close(store.value) }
}

private struct LSMSession: Session {
  let store: OpaquePointer
  let data: bench_data

  func read(_ order: Order) throws -> Tally {
    var data = data
    var tally = bench_tally()
    try order.withUnsafeBufferPointer { order in
      try check(lsm_read(store, &data, order.baseAddress, order.count, &tally))
    }
    return Tally(tally)
  }

  func write(_ order: Order, lifetime: Lifetime) throws {
    var data = data
    try order.withUnsafeBufferPointer { order in
      try check(lsm_write(store, &data, order.baseAddress, order.count, lifetime.deadline))
    }
  }
}

private func check(_ result: Int32) throws {
  if result != 0 { throw Failure(String(cString: lsm_message())) }
}
