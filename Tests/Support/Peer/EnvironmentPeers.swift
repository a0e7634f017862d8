import Foundation
package import LMDB
import LarderSystem

extension Peer {
  /// Writes batch after batch until the process is killed. Each batch lasts as many milliseconds as the argument says.
  func writeBatches() throws {
    let environment = try Fixture.open(store)
    let milliseconds = argument(0)
    Peer.say("open")
    var number = 0
    while true {
      number += 1
      try environment.write { transaction in
        let end = SystemTime.monotonicMilliseconds + Int64(milliseconds)
        try transaction.put(Fixture.bytes(number).span, for: Fixture.bytes(0).span, in: .main)
        while SystemTime.monotonicMilliseconds < end { usleep(500) }
      }
      Peer.say("\(number)")
    }
  }

  /// Compacts again and again until the process is killed. Prints a line after each compaction.
  func compact() throws {
    var isFirst = true
    while true {
      let environment = try Fixture.open(store)
      if isFirst { Peer.say("open") }
      isFirst = false
      try environment.closeCompacting { _, _ in true }
      Peer.say("compact")
    }
  }

  /// Again and again begins more reads than the pool has slots, so LMDB constantly takes and frees slots of its reader table.
  func crowd() throws {
    let environment = try Fixture.open(store)
    try nest(250, environment) {
      Peer.say("open")
      var rounds = 0
      while true {
        for _ in 0..<100 { try nest(10, environment) {} }
        rounds += 1
        Peer.say("\(rounds)")
      }
    }
  }

  /// Runs `body` inside `depth` reads. Each read must still find the store's records afterwards.
  private func nest(_ depth: Int, _ environment: Environment, _ body: () throws -> Void) throws {
    if depth == 0 { return try body() }
    let read = try environment.beginRead()
    try nest(depth - 1, environment, body)
    let value = try read.copy(Fixture.signature)
    precondition(value != nil)
  }

  /// Lists the files that a program started by this process would inherit.
  func listDescriptors() throws {
    let environment = try Fixture.open(store)
    _ = try environment.value(Fixture.signature)
    let status = unsafe system("ls -l /proc/self/fd")
    precondition(status == 0 && environment.close())
  }

  /// Writes until the disk is full, reads, waits for a line of input, and writes a small value.
  func fill() throws {
    let environment = try Fixture.open(store)
    var stored = 0
    let end = Peer.outcome {
      while true {
        try environment.store([stored], size: 20_000)
        stored += 1
      }
    }
    Peer.say("write \(end)")
    let whole = try environment.isWhole(0..<stored, size: 20_000)
    Peer.say("stored \(stored > 10) \(whole)")
    let second = try Fixture.open(store)
    waitForInput(saying: "same \(second === environment)")
    Peer.say("write \(Peer.outcome { try environment.set(Fixture.bytes(stored), [1]) })")
  }

  /// Writes values of 64 KiB, as many as the argument says, and then keeps the store open.
  func grow() throws {
    let environment = try Fixture.open(store, Fixture.options(mapSize: 1 << 20))
    try environment.store(0..<argument(0))
    waitForEndOfInput(saying: "grown")
  }

  /// Runs ``Churn`` within a limit. Prints the number of commits and of refused writes, and whether all values are intact.
  func churnInLimit() throws {
    let environment = try Fixture.open(store, Fixture.options(durability: .temporary))
    environment.setFileLimit(argument(0))
    var churn = Churn(environment, limit: argument(0), author: argument(1), seed: argument(2))
    waitForInput(saying: "open")
    try churn.run(argument(3))
    Peer.say("\(churn.commits) \(churn.refusals) \(try churn.isIntact())")
  }

  /// Opens, reads and closes lock.mdb, as a backup inside the process would do. At the close, the system drops LMDB's locks.
  func loseLocks() throws {
    let environment = try Fixture.open(store)
    let bytes = FileManager.default.contents(atPath: store + "/lock.mdb")
    waitForEndOfInput(saying: "lost \(bytes?.count ?? 0)")
    environment.close()
  }

  /// Begins as many reads as the argument says, and keeps these reads open until the input ends.
  func read() throws {
    let environment = try Fixture.open(store)
    do {
      try nest(argument(0), environment) { waitForEndOfInput(saying: "reading") }
    } catch let error as LMDBError where error == .readersFull { Peer.say("full") }
  }

  /// Adds records with successive numbers, and prints each number after the commit of the record.
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
    let number = 1 + (try transaction.copy(count).map { Fixture.number($0.span) } ?? 0)
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
      else { return nil }
    }
    return expected == last ? last : nil
  }
}
