import LMDB
import LarderPeer
import TestSupport
import Testing

@Suite struct Cursors {
  let directory: TemporaryDirectory
  let environment: Environment
  let records: Database

  init() throws {
    directory = try TemporaryDirectory()
    environment = try Fixture.open(directory.store)
    records = environment.databases[0]
  }

  /// Stores the even numbers below `end`.
  private func store(evenBelow end: Int) throws {
    let records = records
    try environment.write { transaction in
      for number in stride(from: 0, to: end, by: 2).shuffled() {
        let value = Fixture.filling(number, count: number % 300)
        try transaction.put(value.span, for: Fixture.bytes(number).span, in: records)
      }
    }
  }

  @Test func `beyond either end there is nothing, and the way back leads to the last record`()
    throws
  {
    try store(evenBelow: 200)
    let read = try environment.beginRead()
    var cursor = try read.cursor(in: records)
    #expect(try cursor.seekNumber(Fixture.bytes(1000)) == nil)
    #expect(try cursor.nextNumber() == nil)
    #expect(try cursor.nextNumber() == nil)
    #expect(try cursor.previousNumber() == 198)
    #expect(try cursor.nextNumber() == nil)
    #expect(try cursor.previousNumber() == 198)
    #expect(try cursor.seekNumber([]) == 0)
    #expect(try cursor.previousNumber() == nil)
    #expect(try cursor.previousNumber() == nil)
    #expect(try cursor.nextNumber() == 0)
    #expect(try cursor.firstNumber() == 0)
    #expect(try cursor.lastNumber() == 198)
  }

  @Test func `an empty database has no record anywhere`() throws {
    let read = try environment.beginRead()
    var cursor = try read.cursor(in: records)
    #expect(try cursor.nextNumber() == nil)
    #expect(try cursor.previousNumber() == nil)
    #expect(try cursor.firstNumber() == nil)
    #expect(try cursor.lastNumber() == nil)
    #expect(try cursor.seekNumber([1]) == nil)
  }

  @Test func `a cursor in a write sees what the write stored`() throws {
    let records = records
    try environment.write { transaction in
      for number in 0..<100 {
        try transaction.put([1].span, for: Fixture.bytes(number).span, in: records)
      }
      var count = 0
      do {
        var cursor = try transaction.cursor(in: records)
        while try cursor.next() != nil { count += 1 }
      }
      #expect(count == 100)
      try transaction.remove(Fixture.bytes(99).span, from: records)
      var cursor = try transaction.cursor(in: records)
      let last = try cursor.lastNumber()
      #expect(last == 98)
    }
  }
}

/// The moves of a cursor, each with the number of the record's key as its result: `#expect` cannot take a record itself.
extension Cursor {
  fileprivate mutating func nextNumber() throws -> Int? {
    guard let record = try next() else { return nil }
    return Fixture.number(record.key)
  }

  fileprivate mutating func previousNumber() throws -> Int? {
    guard let record = try previous() else { return nil }
    return Fixture.number(record.key)
  }

  fileprivate mutating func firstNumber() throws -> Int? {
    guard let record = try first() else { return nil }
    return Fixture.number(record.key)
  }

  fileprivate mutating func lastNumber() throws -> Int? {
    guard let record = try last() else { return nil }
    return Fixture.number(record.key)
  }

  fileprivate mutating func seekNumber(_ key: [UInt8]) throws -> Int? {
    guard let record = try seek(key.span) else { return nil }
    return Fixture.number(record.key)
  }
}
