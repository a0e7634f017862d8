import Foundation
import LMDB
import LarderPeer
import TestSupport
import Testing

@Suite struct Reading {
  let directory = TemporaryDirectory()
  let environment: Environment

  init() throws { environment = try Fixture.open(directory.store) }

  private var myReaders: [ReaderTable.Reader] {
    get throws { try environment.readerTable.readers().filter { $0.process == Int(getpid()) } }
  }

  @Test func `more reads at once than the pool has, on one thread, each with its own view`() throws
  {
    try nest(40)
    #expect(try myReaders.count <= 16)
  }

  private func nest(_ depth: Int) throws {
    if depth == 0 { return }
    try environment.set([5], [UInt8(depth)])
    let read = try environment.beginRead()
    try nest(depth - 1)
    #expect(try read.copy([5]) == [UInt8(depth)])
  }

  @Test func `more reads at once than the pool has, from many threads`() throws {
    let environment = environment
    let barrier = DispatchGroup()
    for _ in 0..<40 { barrier.enter() }
    try inThreads(40) { _ in
      let read = try environment.beginRead()
      barrier.leave()
      #expect(barrier.wait(timeout: .now() + 30) == .success)
      #expect(try read.copy(Fixture.signature) == [1])
    }
    #expect(try myReaders.count <= 16)
  }

  @Test func `a hundred thousand reads leave no slot behind`() throws {
    let environment = environment
    let reads: @Sendable (Int) throws -> Void = { _ in
      let key = Fixture.signature
      for _ in 0..<12_500 {
        let read = try environment.beginRead()
        guard try read.find(key.span, in: .main) != nil else { throw LMDBError.corrupted }
      }
    }
    try inThreads(8, reads)
    let used = environment.info.readersUsed
    try inThreads(8, reads)
    #expect(used <= 24)
    #expect(environment.info.readersUsed <= 24)
    let readers = try myReaders
    #expect(readers.count <= 16)
    #expect(readers.allSatisfy { $0.transaction == nil })
  }

  @Test func `who reads is listed with process and view`() throws {
    let peer = try PeerProcess("read", directory.store, ["3"], saying: "reading")
    try environment.set([5], [1])
    let read = try environment.beginRead()
    #expect(try myReaders.filter { $0.transaction == read.id }.count == 1)
    let others = try environment.readerTable.readers().filter { $0.process == peer.identifier }
    #expect(others.count == 3)
    #expect(others.allSatisfy { $0.transaction == read.id - 1 })
    #expect(try peer.end() == 0)
    #expect(try environment.readerTable.readers().allSatisfy { $0.process == Int(getpid()) })
  }

  @Test func `slots of dead processes are cleared when the table is full`() throws {
    _ = try environment.value([5])
    let peer = try PeerProcess("read", directory.store, ["1015"], saying: "reading")
    let crowd = try PeerProcess("read", directory.store, ["100"])
    #expect(crowd.line() == "full")
    peer.kill()
    #expect(try environment.readerTable.readers().contains { $0.process == peer.identifier })
    try nest(60)
    #expect(try !environment.readerTable.readers().contains { $0.process == peer.identifier })
  }
}
