import Foundation
package import LMDB

package enum Fixture {
  package static let signature: [UInt8] = [0, 1]

  package static func options(
    mapSize: Int = 64 << 20, lockTimeout: Duration = .seconds(10),
    durability: DurabilityLevel? = nil
  ) -> EnvironmentOptions {
    var options = EnvironmentOptions()
    options.databases = ["second"]
    options.signature = signature
    options.mapSize = mapSize
    options.lockTimeout = lockTimeout
    options.durability = durability
    return options
  }

  /// Opens the store. If the options set no level, a new store is durable.
  package static func open(
    _ path: String, _ options: EnvironmentOptions = options()
  ) throws(OpenError) -> Environment {
    var options = options
    if options.durability == nil, !FileManager.default.fileExists(atPath: path + "/data.mdb") {
      options.durability = .durable
    }
    return try Environment.open(at: path, options: options) { transaction throws(LMDBError) in
      try transaction.put([1].span, for: signature.span, in: .main)
    }
  }

  /// A number as eight bytes, the most significant byte first, so that keys sort as numbers.
  package static func bytes(_ number: Int) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }

  package static func number(_ bytes: Span<UInt8>) -> Int {
    var number = 0
    for index in bytes.indices { number = number << 8 | Int(bytes[index]) }
    return number
  }

  /// `count` bytes that depend on the number, so a test can recognize the value.
  package static func filling(_ number: Int, count: Int) -> [UInt8] {
    var bytes = bytes(number)
    bytes += [UInt8](repeating: UInt8(truncatingIfNeeded: number &* 31), count: max(count - 8, 0))
    return Array(bytes.prefix(count))
  }
}

extension Environment {
  package func set(_ key: [UInt8], _ value: [UInt8], in database: Database = .main) throws {
    try write { try $0.put(value.span, for: key.span, in: database) }
  }

  package func value(_ key: [UInt8], in database: Database = .main) throws(LMDBError) -> [UInt8]? {
    try beginRead().copy(key, in: database)
  }

  package func store(_ numbers: some Sequence<Int>, size: Int = 65_536) throws {
    for number in numbers { try set(Fixture.bytes(number), Fixture.filling(number, count: size)) }
  }

  package func isWhole(_ numbers: some Sequence<Int>, size: Int = 65_536) throws -> Bool {
    try numbers.allSatisfy { try value(Fixture.bytes($0)) == Fixture.filling($0, count: size) }
  }

  /// Makes writes that last `microseconds` each. Returns for each write how many other writes were made during the wait.
  package func queueUp(_ writes: Int, lasting microseconds: UInt32) throws -> [Int] {
    let counter = Fixture.bytes(0)
    return try (0..<writes).map { _ in
      let before = try value(counter).map { Fixture.number($0.span) } ?? 0
      let after = try write(waitingAtMost: .seconds(60)) { transaction in
        let count = try transaction.copy(counter).map { Fixture.number($0.span) } ?? 0
        try transaction.put(Fixture.bytes(count + 1).span, for: counter.span, in: .main)
        usleep(microseconds)
        return count
      }
      return after - before
    }
  }
}

extension ReadTransaction {
  package func copy(_ key: [UInt8], in database: Database = .main) throws(LMDBError) -> [UInt8]? {
    guard let region = try find(key.span, in: database) else { return nil }
    return bytes(of: region).array
  }
}

extension WriteTransaction {
  package func copy(_ key: [UInt8], in database: Database = .main) throws(LMDBError) -> [UInt8]? {
    try value(for: key.span, in: database)?.array
  }
}

extension Span<UInt8> {
  package var array: [UInt8] { unsafe withUnsafeBufferPointer { unsafe Array($0) } }
}
