import Foundation
import GRDB
import Larder
import Synchronization

/// A value of an application. As JSON, it has about 200 bytes.
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

/// A store of decoded values. Reads return the sum of the categories of the values.
protocol TypedPeer: Sendable {
  func read(_ order: Order, _ keys: [String]) throws -> Int
}

/// Reads through a `Cache`, with or without decoded values in memory.
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

  /// Commits a write in another namespace. After this, values in memory must be checked again.
  func commitElsewhere() throws { try store.namespace("other").set(Array("value".utf8), for: 1) }

  func scan(_ visit: (Part) -> Void) throws {
    try cache.entries().visit { _, part in visit(part) }
  }

  func read(_ order: Order, _ keys: [String]) throws -> Int {
    var sum = 0
    for index in order { sum += try cache.value(for: keys[Int(index)])?.category ?? 0 }
    return sum
  }
}

/// The entity cache that many applications write themselves: rows with JSON, which each read decodes.
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

/// Decoded values in a dictionary behind a lock.
final class DictionaryTyped: TypedPeer {
  private let parts: Mutex<[String: Part]>

  init(_ parts: [String: Part]) { self.parts = Mutex(parts) }

  convenience init(_ keys: [String]) {
    self.init(Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, Part(UInt32($0))) }))
  }

  func part(_ key: String) -> Part? { parts.withLock { $0[key] } }

  func read(_ order: Order, _ keys: [String]) -> Int {
    var sum = 0
    for index in order { sum += part(keys[Int(index)])?.category ?? 0 }
    return sum
  }
}

/// Decoded values in sixteen dictionaries. Each dictionary has its own lock.
final class ShardedTyped: TypedPeer {
  private let shards: [DictionaryTyped]

  init(_ keys: [String]) {
    var parts = [[(String, Part)]](repeating: [], count: 16)
    for (index, key) in keys.enumerated() {
      parts[key.hashValue & 15].append((key, Part(UInt32(index))))
    }
    shards = parts.map { DictionaryTyped(Dictionary(uniqueKeysWithValues: $0)) }
  }

  func read(_ order: Order, _ keys: [String]) -> Int {
    var sum = 0
    for index in order {
      let key = keys[Int(index)]
      sum += shards[key.hashValue & 15].part(key)?.category ?? 0
    }
    return sum
  }
}

/// `NSCache` of Foundation, which may evict values. The values must be objects.
final class NSCacheTyped: TypedPeer, @unchecked Sendable {
  private final class Object {
    let part: Part

    init(_ part: Part) { self.part = part }
  }
  // The manual says that any thread may use an `NSCache`, so `@unchecked Sendable` is correct.
  private let cache = NSCache<NSString, Object>()

  init(_ keys: [String]) {
    for (index, key) in keys.enumerated() {
      cache.setObject(Object(Part(UInt32(index))), forKey: NSString(string: key))
    }
  }

  func read(_ order: Order, _ keys: [String]) -> Int {
    var sum = 0
    for index in order {
      let key = NSString(string: keys[Int(index)])
      sum += cache.object(forKey: key)?.part.category ?? 0
    }
    return sum
  }
}
