import Foundation
import GRDB
import Larder
import Synchronization

/// What an application keeps: about 200 bytes as JSON.
struct Part: Codable, Sendable {
  var number: String
  var name: String
  var category: Int
  var years: [Int]
  var material: String
  var isObsolete: Bool

  init(_ index: UInt32) {
    number = String(3000 + index)
    name = "Brick 2 x \(index % 16) with Studs on Side and Groove"
    category = Int(index) % 60
    years = [1958 + Int(index) % 60, 2026]
    material = "Acrylonitrile butadiene styrene, Plastic"
    isObsolete = index % 7 == 0
  }
}

/// A store of decoded values: reads answer the sum of the categories.
protocol TypedPeer: Sendable {
  func read(_ order: Order, _ keys: [String]) throws -> Int
}

/// Through a `Cache`, with or without what it keeps in memory.
struct LarderTyped: TypedPeer {
  let cache: Cache<Part>
  let store: Store

  init(_ store: Store, memory: MemoryLimits?) {
    self.store = store
    cache = store.cache(of: Part.self, in: "parts", memory: memory)
  }

  func fill(_ keys: [String]) throws {
    try store.write { batch in
      for (index, key) in keys.enumerated() {
        try batch.set(Part(UInt32(index)), for: key, in: cache)
      }
    }
  }

  /// Somebody writes something else: what is in memory must be looked at again.
  func commitElsewhere() throws { try store.namespace("other").set("value", for: 1) }

  func read(_ order: Order, _ keys: [String]) throws -> Int {
    var sum = 0
    for index in order { sum += try cache.value(for: keys[Int(index)])?.category ?? 0 }
    return sum
  }
}

/// The entity cache that applications write: a row of JSON, decoded.
struct SQLiteTyped: TypedPeer {
  let pool: DatabasePool
  let decoder: Shared<JSONDecoder> = Shared(JSONDecoder())

  init(_ directory: String, _ keys: [String]) throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    pool = try DatabasePool(path: directory + "/cache.sqlite")
    try pool.write { database in
      try database.execute(
        sql: """
          CREATE TABLE entries (
            namespace TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, expires INTEGER,
            PRIMARY KEY (namespace, key)) WITHOUT ROWID
          """)
      for (index, key) in keys.enumerated() {
        try database.execute(
          sql: "INSERT INTO entries VALUES ('parts', ?, ?, ?)",
          arguments: [key, try JSONEncoder().encode(Part(UInt32(index))), Int64.max])
      }
    }
  }

  func read(_ order: Order, _ keys: [String]) throws -> Int {
    var sum = 0
    for index in order {
      let json = try pool.read { database in
        try Data.fetchOne(
          database.cachedStatement(
            sql: "SELECT value FROM entries WHERE namespace = 'parts' AND key = ? AND expires > ?"),
          arguments: [keys[Int(index)], Int64(Date().timeIntervalSince1970 * 1000)])
      }
      if let json { sum += try decoder.value.decode(Part.self, from: json).category }
    }
    return sum
  }
}

/// Values that are decoded already, behind a lock.
final class DictionaryTyped: TypedPeer {
  private let parts: Mutex<[String: Part]>

  init(_ keys: [String]) {
    parts = Mutex(
      Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, Part(UInt32($0))) }))
  }

  func read(_ order: Order, _ keys: [String]) -> Int {
    var sum = 0
    for index in order { sum += parts.withLock { $0[keys[Int(index)]] }?.category ?? 0 }
    return sum
  }
}
