import BenchData
import RawSQLite

extension PeerKind {
  static let rawSQLite = PeerKind(
    id: "sqlite-c", name: "SQLite in C",
    usage:
      "statements prepared once, WAL, memory-mapped; namespace, key, value, expires, index on expires",
    promise: sqlite.promise, loadsSorted: true,
    open: { site in try RawSQLitePeer(site, isBare: false) })

  static let bareSQLite = PeerKind(
    id: "sqlite-bare", name: "SQLite in C, bare",
    usage: "the same with a table of keys and values", promise: sqlite.promise, loadsSorted: true,
    open: { site in try RawSQLitePeer(site, isBare: true) })
}

/// Runs the loops of the C target. Each session has its own connection.
final class RawSQLitePeer: Peer {
  private let directory: String
  private let options: sql_options
  private let data: Dataset
  private let connection: Shared<OpaquePointer>

  init(_ site: Site, isBare: Bool) throws {
    directory = site.directory
    options = sql_options(
      bare: isBare ? 1 : 0, durable: site.level == .durable ? 1 : 0,
      small: site.data.valueSize <= 400 ? 1 : 0)
    data = site.data
    connection = Shared(try Self.connect(directory, options))
  }

  fileprivate static func connect(_ directory: String, _ options: sql_options) throws
    -> OpaquePointer
  {
    guard let connection = sql_open(directory, options) else {
      throw Failure("SQLite cannot open \(directory)")
    }
    return connection
  }

  func session() throws -> any Session {
    RawSQLiteSession(
      try Self.connect(directory, options), isBare: options.bare != 0, data: data.raw.value)
  }

  func scan() throws -> Tally {
    var tally = bench_tally()
    try check(sql_scan(connection.value, &tally))
    return Tally(tally)
  }

  func purge() throws -> Int {
    if options.bare != 0 { throw Unsupported("knows no expiry") }
    var removed: UInt64 = 0
    try check(sql_purge(connection.value, bench_now(), &removed))
    return Int(removed)
  }

  func clear() throws { try check(sql_clear(connection.value)) }
  func limit() throws { throw Unsupported("the schema has no order to evict by") }
  func close() { sql_close(connection.value) }
}

private final class RawSQLiteSession: Session {
  private let connection: OpaquePointer
  private let isBare: Bool
  private let data: bench_data

  init(_ connection: OpaquePointer, isBare: Bool, data: bench_data) {
    self.connection = connection
    self.isBare = isBare
    self.data = data
  }

  deinit { sql_close(connection) }

  func read(_ order: Order) throws -> Tally {
    var data = data
    var tally = bench_tally()
    try order.withUnsafeBufferPointer { order in
      try check(sql_read(connection, &data, order.baseAddress, order.count, &tally))
    }
    return Tally(tally)
  }

  func write(_ order: Order, lifetime: Lifetime) throws {
    if lifetime == .over, isBare { throw Unsupported("knows no expiry") }
    var data = data
    try order.withUnsafeBufferPointer { order in
      try check(sql_write(connection, &data, order.baseAddress, order.count, lifetime.deadline))
    }
  }
}

private func check(_ code: Int32) throws {
  if code != 0 { throw Failure("SQLite: \(String(cString: sql_message(code)))") }
}
