import BenchData
import RawLMDB

extension PeerKind {
  static let lmdb = PeerKind(
    id: "lmdb", name: "LMDB in C",
    usage: "a named database, key to value; renew, get, touch, reset",
    promise: [
      .durable: "each commit is on the disk",
      .unsynced: "MDB_NOSYNC: losing power can damage the whole file",
    ],
    loadsSorted: true,
    open: { site in try LMDBPeer(site, form: .plain) })

  static let lmdbIndexed = PeerKind(
    id: "lmdb-indexed", name: "LMDB in C, indexes",
    usage: "the same, with deadlines and a queue kept in two more databases",
    promise: lmdb.promise, loadsSorted: true,
    open: { site in try LMDBPeer(site, form: .indexed) })

  static let lmdbChecked = PeerKind(
    id: "lmdb-checked", name: "LMDB in C, checksum",
    usage: "the plain one; each read runs Larder's checksum over the value",
    promise: lmdb.promise, readsOnly: true,
    open: { site in try LMDBPeer(site, form: .checked) })

  static let lmdbMapped = PeerKind(
    id: "lmdb-mapped", name: "LMDB in C, writable map",
    usage: "the plain one with MDB_WRITEMAP: pages are changed in place of being written",
    promise: [
      .unsynced: "MDB_NOSYNC: losing power can damage the whole file, and so can a stray pointer"
    ],
    loadsSorted: true,
    open: { site in try LMDBPeer(site, form: .mapped) })
}

/// Runs the loops of the C target. These loops contain no Swift code.
final class LMDBPeer: Peer {
  enum Form {
    case plain, indexed, checked, mapped
  }

  /// The number of entries that a transaction of a purge or an eviction removes.
  private static let atOnce = 500

  private let store: Shared<OpaquePointer>
  private let form: Form
  private let data: Dataset
  private let isFull = Latch()

  init(_ site: Site, form: Form) throws {
    guard
      let store = raw_open(
        site.directory, form == .indexed ? 1 : 0, site.level == .durable ? 1 : 0,
        form == .mapped ? 1 : 0)
    else { throw Failure("LMDB cannot open \(site.directory)") }
    self.store = Shared(store)
    self.form = form
    data = site.data
  }

  func session() throws -> any Session {
    try LMDBSession(store: store.value, form: form, data: data, isFull: isFull)
  }

  func scan() throws -> Tally {
    let session = try LMDBSession(store: store.value, form: form, data: data, isFull: isFull)
    return try session.scan()
  }

  func purge() throws -> Int {
    guard form == .indexed else { throw Unsupported("knows no expiry") }
    var removed: UInt64 = 0
    try check(raw_purge(store.value, bench_now(), Self.atOnce, &removed))
    return Int(removed)
  }

  func limit() throws {
    guard form == .indexed else { throw Unsupported("has no order to evict by") }
    isFull.set()
  }

  func evict(_ count: Int) throws {
    guard form == .indexed else { throw Unsupported("has no order to evict by") }
    for start in stride(from: 0, to: count, by: Self.atOnce) {
      try check(raw_evict(store.value, min(Self.atOnce, count - start)))
    }
  }

  func clear() throws { try check(raw_clear(store.value)) }
  func close() { raw_close(store.value) }
}

private final class LMDBSession: Session {
  private let store: OpaquePointer
  private let reader: OpaquePointer
  private let form: LMDBPeer.Form
  private let data: bench_data
  private let isFull: Latch

  init(store: OpaquePointer, form: LMDBPeer.Form, data: Dataset, isFull: Latch) throws {
    guard let reader = raw_reader_open(store) else { throw Failure("LMDB has no reader left") }
    self.store = store
    self.reader = reader
    self.form = form
    self.data = data.raw.value
    self.isFull = isFull
  }

  deinit { raw_reader_close(reader) }

  func read(_ order: Order) throws -> Tally {
    var data = data
    var tally = bench_tally()
    try order.withUnsafeBufferPointer { order in
      try check(
        form == .checked
          ? raw_read_checked(reader, &data, order.baseAddress, order.count, &tally)
          : raw_read(reader, &data, order.baseAddress, order.count, &tally))
    }
    return Tally(tally)
  }

  func write(_ order: Order, lifetime: Lifetime) throws {
    if lifetime == .over, form != .indexed { throw Unsupported("knows no expiry") }
    var data = data
    try order.withUnsafeBufferPointer { order in
      try check(raw_write(store, &data, order.baseAddress, order.count, lifetime.deadline))
    }
    if isFull.isSet { try check(raw_evict(store, order.count)) }
  }

  func scan() throws -> Tally {
    var tally = bench_tally()
    try check(raw_scan(reader, &tally))
    return Tally(tally)
  }
}

private func check(_ code: Int32) throws {
  if code != 0 { throw Failure("LMDB: \(String(cString: raw_message(code)))") }
}
