package import LMDB

extension Peer {
  /// Adds records with successive numbers, and prints each number after its commit.
  ///
  /// All writers share one count, so a lost commit leaves a gap. Runs until a write fails or the test kills the process.
  func number() throws {
    let level =
      arguments.count > 1
      ? value(1) { UInt8($0).flatMap(DurabilityLevel.init(rawValue:)) } : .durable
    let environment = try Fixture.open(store, Fixture.options(durability: level))
    let author = argument(0)
    Peer.say("open")
    while true {
      let number = try environment.write {
        try Numbering.add(to: &$0, records: environment.databases[0], by: author)
      }
      Peer.say("\(number)")
    }
  }
}

/// Numbered records in the second database, which keeps the last 500 records. The main database has the last number.
package enum Numbering {
  package static let count: [UInt8] = Array("count".utf8)

  static func add(
    to transaction: inout WriteTransaction, records: Database, by author: Int
  ) throws -> Int {
    let last = try transaction.copy(count).map { Fixture.number($0.span) } ?? 0
    let number = last + 1
    let value = Fixture.bytes(author) + Fixture.filling(number, count: number % 6000)
    try transaction.put(value.span, for: Fixture.bytes(number).span, in: records)
    if number > 500 { try transaction.remove(Fixture.bytes(number - 500).span, from: records) }
    try transaction.put(Fixture.bytes(number).span, for: count.span, in: .main)
    return number
  }

  /// The last number. Nil if one of the last 500 records is missing, damaged or not in order.
  package static func verify(_ environment: Environment) throws -> Int? {
    let read = try environment.beginRead()
    let last = try read.copy(count).map { Fixture.number($0.span) } ?? 0
    var expected = max(last - 500, 0)
    var cursor = try read.cursor(in: environment.databases[0])
    while let record = try cursor.next() {
      expected += 1
      let filling = Fixture.filling(expected, count: expected % 6000)
      guard Fixture.number(record.key) == expected, record.value.extracting(8...).array == filling
      else {
        return nil
      }
    }
    return expected == last ? last : nil
  }
}
