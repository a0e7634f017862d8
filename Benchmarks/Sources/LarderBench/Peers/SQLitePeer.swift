import BenchData
import Foundation
import GRDB

extension PeerKind {
  static let sqlite = PeerKind(
    id: "sqlite", name: "SQLite (GRDB)",
    usage:
      "DatabasePool, WAL, cached statements, memory-mapped; namespace, key, value, expires, index on expires",
    promise: [
      .durable: "synchronous = FULL: each commit is on the disk",
      .unsynced: "synchronous = NORMAL: losing power loses the newest commits and damages nothing",
    ],
    loadsSorted: true,
    open: { site in try SQLitePeer(site, lookupsPerRead: 1) })

  static let sqliteTogether = PeerKind(
    id: "sqlite-together", name: "SQLite, 1,000 at once",
    usage: "the same, with a thousand lookups in one read transaction",
    promise: sqlite.promise, readsOnly: true,
    open: { site in try SQLitePeer(site, lookupsPerRead: 1000) })
}

final class SQLitePeer: Peer {
  static let namespace = "entries"

  private let pool: DatabasePool
  private let data: Dataset
  private let blobs: [Data]
  private let lookupsPerRead: Int

  init(_ site: Site, lookupsPerRead: Int) throws {
    var configuration = Configuration()
    // Another process may be writing, so a writer waits for up to 60 s.
    configuration.busyMode = .timeout(60)
    configuration.prepareDatabase { database in
      try database.execute(
        sql: """
          PRAGMA mmap_size = 34359738368;
          PRAGMA cache_size = -65536;
          """)
    }
    try FileManager.default.createDirectory(
      atPath: site.directory, withIntermediateDirectories: true)
    pool = try DatabasePool(path: site.directory + "/cache.sqlite", configuration: configuration)
    data = site.data
    blobs = site.data.values.map { Data($0) }
    self.lookupsPerRead = lookupsPerRead
    if !site.isAttached { try makeTable() }
    try synchronize(fully: site.level == .durable)
  }

  /// Sets the synchronous mode of the writer. GRDB always sets this mode to NORMAL, whatever the configuration says.
  private func synchronize(fully: Bool) throws {
    try pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = \(fully ? "FULL" : "NORMAL")")
      let level = try Int.fetchOne(database, sql: "PRAGMA synchronous")
      guard level == (fully ? 2 : 1) else { throw Failure("SQLite does not take its level") }
    }
  }

  private func makeTable() throws {
    // Small rows can be in the tree of the keys, so that one descent finds the row. Large rows would make this tree deep.
    let form = data.valueSize <= 400 ? "WITHOUT ROWID" : ""
    try pool.write { database in
      try database.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS entries (
            namespace TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, expires INTEGER,
            PRIMARY KEY (namespace, key)) \(form);
          CREATE INDEX IF NOT EXISTS entries_expires ON entries (expires);
          """)
    }
  }

  func session() -> any Session {
    SQLiteSession(pool: pool, data: data, blobs: blobs, lookupsPerRead: lookupsPerRead)
  }

  func scan() throws -> Tally {
    try pool.read { database in
      let statement = try database.cachedStatement(
        sql: "SELECT value FROM entries WHERE namespace = ? AND expires > ?")
      let rows = try Row.fetchCursor(
        statement, arguments: [Self.namespace, Int64(bench_now())])
      var tally = Tally()
      while let row = try rows.next() { try tally.touch(row) }
      return tally
    }
  }

  func purge() throws -> Int {
    try pool.write { database in
      try database.execute(
        sql: "DELETE FROM entries WHERE expires <= ?", arguments: [Int64(bench_now())])
      return database.changesCount
    }
  }

  func clear() throws {
    try pool.write { database in
      try database.execute(
        sql: "DELETE FROM entries WHERE namespace = ?", arguments: [Self.namespace])
    }
  }

  func close() throws { try pool.close() }

  func limit() throws { throw Unsupported("the schema has no order to evict by") }
}

private struct SQLiteSession: Session {
  let pool: DatabasePool
  let data: Dataset
  let blobs: [Data]
  let lookupsPerRead: Int

  func read(_ order: Order) throws -> Tally {
    var tally = Tally()
    var start = order.startIndex
    while start < order.endIndex {
      let end = min(start + lookupsPerRead, order.endIndex)
      try pool.read { database in
        for index in order[start..<end] { try lookUp(data.keys[Int(index)], in: database, &tally) }
      }
      start = end
    }
    return tally
  }

  @inline(__always)
  private func lookUp(_ key: String, in database: Database, _ tally: inout Tally) throws {
    let statement = try database.cachedStatement(
      sql: "SELECT value FROM entries WHERE namespace = ? AND key = ? AND expires > ?")
    let rows = try Row.fetchCursor(
      statement, arguments: [SQLitePeer.namespace, key, Int64(bench_now())])
    if let row = try rows.next() { try tally.touch(row) }
  }

  func write(_ order: Order, lifetime: Lifetime) throws {
    let deadline = Int64(lifetime.deadline)
    try pool.write { database in
      let statement = try database.cachedStatement(
        sql: """
          INSERT INTO entries (namespace, key, value, expires) VALUES (?, ?, ?, ?)
          ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, expires = excluded.expires
          """)
      for index in order {
        try statement.execute(arguments: [
          SQLitePeer.namespace, data.keys[Int(index)], blobs[Int(index) % blobs.count], deadline,
        ])
      }
    }
  }
}

extension Tally {
  @inline(__always)
  fileprivate mutating func touch(_ row: Row) throws {
    try row.withUnsafeData(atIndex: 0) { bytes in
      guard let bytes else { throw Failure("SQLite has a row without a value") }
      found += 1
      sum &+= bytes.withUnsafeBytes { Touch.sum($0) }
    }
  }
}
