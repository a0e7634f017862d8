import Foundation
import LMDB
import LarderPeer
import TestSupport
import Testing

@Suite struct `The file's limit and reads` {
  let directory = TemporaryDirectory()

  private static let limit = 4 << 20
  private func open(lockTimeout: Duration = .seconds(10)) throws -> Environment {
    try Fixture.open(
      directory.store,
      Fixture.options(mapSize: 16 << 20, lockTimeout: lockTimeout, durability: .temporary))
  }
  @Test func `a limit set while a read is under way holds from the next write on`() throws {
    let environment = try open(lockTimeout: .milliseconds(100))
    try environment.store([0])
    let before = environment.info.mapSize
    do {
      let read = try environment.beginRead()
      environment.setFileLimit(Self.limit)
      #expect(failure { try environment.store([1]) } == .mapHeld)
      #expect(try read.copy(Fixture.bytes(0)) == Fixture.filling(0, count: 65_536))
      #expect(try environment.isWhole([0]))
    }
    #expect(environment.info.mapSize == before)
    try environment.store([1])
    #expect(environment.info.mapSize == Self.limit)
  }

  @Test func `a limit set inside a write holds from the next one on`() throws {
    let environment = try open()
    try environment.write { transaction in
      environment.setFileLimit(Self.limit)
      for number in 0..<100 { try transaction.put(number, size: 65_536) }
    }
    let pages = environment.info.pages
    #expect(pages * 4096 > Self.limit)
    #expect(failure { try environment.store([100]) } == .mapFull)
    #expect(environment.info.pages == pages)
  }

  @Test func `a raised limit does not wait for a long read`() throws {
    let environment = try open()
    environment.setFileLimit(Self.limit)
    try environment.store([0])
    do {
      let read = try environment.beginRead()
      environment.setFileLimit(2 * Self.limit)
      try environment.store([1])
      #expect(environment.info.mapSize == Self.limit)
      #expect(try read.copy(Fixture.bytes(1)) == nil)
    }
    // A writer looks for a new limit when little room is left, or after a write that found no room.
    for number in 1..<110 {
      if let error = failure({ try environment.store([number]) }) {
        #expect(error == .mapFull)
        try environment.store([number])
      }
    }
    #expect(environment.info.mapSize == 2 * Self.limit)
  }

  @Test func `a writer with a limit follows a process that has none`() throws {
    let environment = try open()
    environment.setFileLimit(Self.limit)
    let peer = try PeerProcess("grow", directory.store, ["120"], saying: "grown")
    #expect(failure { try environment.store([120]) } == .mapFull)
    try environment.set(Fixture.bytes(0), [1])
    #expect(try environment.isWhole([119]))
    #expect(try peer.end() == 0)
  }

  @Test func `a reader reads all that a process without the limit wrote`() throws {
    let environment = try open()
    environment.setFileLimit(Self.limit)
    let peer = try PeerProcess("grow", directory.store, ["120"], saying: "grown")
    #expect(environment.info.mapSize == Self.limit)
    #expect(try environment.isWhole(0..<120))
    let pages = environment.info.pages
    #expect(environment.info.mapSize == pages * environment.info.pageSize)
    #expect(failure { try environment.store([120]) } == .mapFull)
    #expect(environment.info.pages == pages)
    try environment.set(Fixture.bytes(0), [1])
    #expect(try peer.end() == 0)
  }

  @Test func `threads read whole values while the limit changes and another writes`() throws {
    let environment = try open()
    try environment.store(0..<20)
    let done = Flag()
    try inThreads(5) { thread in
      switch thread {
      case 0:
        defer { done.set() }
        for number in 0..<300 {
          if number % 3 == 0 { environment.setFileLimit((2 + number % 5) << 20) }
          if number % 7 == 0 { environment.setFileLimit(nil) }
          let error = failure { try environment.store([20 + number % 60]) }
          #expect(error == nil || error == .mapFull)
        }
      case 1:
        while !done.isSet { environment.setFileLimit(8 << 20) }
      default:
        var number = thread
        while !done.isSet {
          let whole = try environment.isWhole([number % 20])
          #expect(whole)
          number += 1
        }
      }
    }
    environment.setFileLimit(nil)
    for number in 0..<80 {
      let value = try environment.value(Fixture.bytes(number))
      #expect(value == nil || value == Fixture.filling(number, count: 65_536))
    }
  }
}
