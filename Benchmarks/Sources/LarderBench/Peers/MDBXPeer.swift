import BenchData
import FoundStores

extension PeerKind {
  static let mdbx = PeerKind(
    id: "mdbx", name: "libmdbx in C",
    usage: "as LMDB in C: a named database, key to value; renew, get, touch, reset",
    promise: [
      .durable: "each commit is on the disk",
      .unsynced: "MDBX_UTTERLY_NOSYNC: losing power can damage the whole file",
    ],
    loadsSorted: true,
    missing: { mdbx_missing().map { String(cString: $0) } },
    open: { site in try MDBXPeer(site) })
}

/// Runs the loops of the C target, which contain no Swift code.
final class MDBXPeer: Peer {
  private let store: Shared<OpaquePointer>
  private let data: Dataset

  init(_ site: Site) throws {
    guard let store = mdbx_store_open(site.directory, site.level == .durable ? 1 : 0) else {
      throw Failure(String(cString: found_message()))
    }
    self.store = Shared(store)
    data = site.data
  }

  func session() throws -> any Session { try MDBXSession(store: store.value, data: data) }
  func scan() throws -> Tally { try MDBXSession(store: store.value, data: data).scan() }
  func purge() throws -> Int { throw Unsupported("knows no expiry") }
  func clear() throws { try check(mdbx_clear(store.value)) }
  func close() { mdbx_store_close(store.value) }
}

private final class MDBXSession: Session {
  private let store: OpaquePointer
  private let reader: OpaquePointer
  private let data: bench_data

  init(store: OpaquePointer, data: Dataset) throws {
    guard let reader = mdbx_reader_open(store) else {
      throw Failure(String(cString: found_message()))
    }
    self.store = store
    self.reader = reader
    self.data = data.raw.value
  }

  deinit { mdbx_reader_close(reader) }

  func read(_ order: Order) throws -> Tally {
    var data = data
    var tally = bench_tally()
    try order.withUnsafeBufferPointer { order in
      try check(mdbx_read(reader, &data, order.baseAddress, order.count, &tally))
    }
    return Tally(tally)
  }

  func write(_ order: Order, lifetime: Lifetime) throws {
    if lifetime == .over { throw Unsupported("knows no expiry") }
    var data = data
    try order.withUnsafeBufferPointer { order in
      try check(mdbx_write(store, &data, order.baseAddress, order.count))
    }
  }

  func scan() throws -> Tally {
    var tally = bench_tally()
    try check(mdbx_scan(reader, &tally))
    return Tally(tally)
  }
}

private func check(_ result: Int32) throws {
  if result != 0 { throw Failure("libmdbx: " + String(cString: found_message())) }
}
