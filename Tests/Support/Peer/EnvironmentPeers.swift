import Foundation
import LMDB
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

  /// Compacts again and again until the process is killed, and reports each compaction.
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

  private func nest(_ depth: Int, _ environment: Environment, _ body: () throws -> Void) throws {
    if depth == 0 { return try body() }
    let read = try environment.beginRead()
    try nest(depth - 1, environment, body)
    precondition(read.id > 0)
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
    Peer.say("same \(second === environment)")
    waitForInput()
    Peer.say("write \(Peer.outcome { try environment.set(Fixture.bytes(stored), [1]) })")
  }

  /// Writes values of 64 KiB, as many as the argument says, and then keeps the store open.
  func grow() throws {
    let environment = try Fixture.open(store, Fixture.options(mapSize: 1 << 20))
    try environment.store(0..<argument(0))
    Peer.say("grown")
    waitForEndOfInput()
  }

  /// Runs ``Churn`` within a limit. Prints the number of commits and of refused writes, and whether all values are intact.
  func churnInLimit() throws {
    let environment = try Fixture.open(store, Fixture.options(durability: .temporary))
    environment.setFileLimit(argument(0))
    var churn = Churn(environment, limit: argument(0), author: argument(1), seed: argument(2))
    Peer.say("open")
    waitForInput()
    try churn.run(argument(3))
    Peer.say("\(churn.commits) \(churn.refusals) \(try churn.isIntact())")
  }

  /// Reads lock.mdb, as a backup inside the process would do. When this file is closed, the system drops the locks of LMDB.
  func loseLocks() throws {
    let environment = try Fixture.open(store)
    let bytes = FileManager.default.contents(atPath: store + "/lock.mdb")
    Peer.say("lost \(bytes?.count ?? 0)")
    waitForEndOfInput()
    environment.close()
  }

  /// Begins as many reads as the argument says, and keeps these reads open until the input ends.
  func read() throws {
    let environment = try Fixture.open(store)
    do {
      try holdReads(argument(0), of: environment)
    } catch let error as LMDBError where error == .readersFull {
      Peer.say("full")
    }
  }

  private func holdReads(_ count: Int, of environment: Environment) throws {
    if count == 0 {
      Peer.say("reading")
      waitForEndOfInput()
      return
    }
    let read = try environment.beginRead()
    try holdReads(count - 1, of: environment)
    let value = try read.copy(Fixture.signature)
    precondition(value != nil)
  }
}
