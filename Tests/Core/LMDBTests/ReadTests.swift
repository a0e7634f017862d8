import Foundation
import LMDB
import LarderPeer
import TestSupport
import Testing

@Suite struct Reading {
  let directory = TemporaryDirectory()
  let environment: Environment
  init() throws { environment = try Fixture.open(directory.store) }

  @Test func `more reads at once than the pool has, on one thread, each with its view`() throws {
    try nest(40)
    #expect(try environment.ownReaders().count <= 16)
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
    #expect(try environment.ownReaders().count <= 16)
  }

  @Test func `a hundred thousand reads leave no slot behind`() throws {
    let environment = environment
    try inThreads(8) { _ in
      let key = Fixture.signature
      for _ in 0..<12_500 {
        let read = try environment.beginRead()
        guard try read.find(key.span, in: .main) != nil else { throw LMDBError.corrupted }
      }
    }
    let readers = try environment.ownReaders()
    #expect(readers.count <= 16)
    #expect(readers.allSatisfy { $0.transaction == nil })
  }

  @Test func `who reads is listed with process and view`() throws {
    let peer = try PeerProcess("read", directory.store, ["3"], saying: "reading")
    try environment.set([5], [1])
    let read = try environment.beginRead()
    #expect(try environment.ownReaders().filter { $0.transaction == read.id }.count == 1)
    let others = try environment.readerTable.readers().filter { $0.process == peer.identifier }
    #expect(others.count == 3)
    #expect(others.allSatisfy { $0.transaction == read.id - 1 })
    #expect(try peer.end() == 0)
    #expect(try environment.readerTable.readers().allSatisfy { $0.process == Int(getpid()) })
  }

  @Test func `slots of dead processes are cleared when the table is full`() throws {
    // The first write of a process clears the slots of dead processes, so this write comes before the kill.
    try environment.set([5], [0])
    let peer = try PeerProcess("read", directory.store, ["1015"], saying: "reading")
    let crowd = try PeerProcess("read", directory.store, ["100"])
    #expect(crowd.line() == "full")
    peer.kill()
    #expect(try environment.readerTable.readers().contains { $0.process == peer.identifier })
    try nest(60)
    #expect(try !environment.readerTable.readers().contains { $0.process == peer.identifier })
  }
}

@Suite struct `Idle readers` {
  let directory = TemporaryDirectory()
  let environment: Environment

  init() throws {
    environment = try Fixture.open(directory.store)
    try environment.set([5], [6])
  }

  @Test func `a slot that was unused between two sweeps is released, and reads go on`() throws {
    _ = try environment.value([5])
    #expect(try environment.ownReaders().count == 1)
    // The test lists no readers between the two sweeps, because a listing itself uses a slot.
    environment.readerTable.releaseIdle()
    environment.readerTable.releaseIdle()
    #expect(try environment.ownReaders().count == 0)
    #expect(try environment.value([5]) == [6])
    #expect(try environment.ownReaders().count == 1)
  }

  @Test func `a slot that is used between two sweeps is kept`() throws {
    for _ in 0..<5 {
      _ = try environment.value([5])
      environment.readerTable.releaseIdle()
    }
    #expect(try environment.ownReaders().count >= 1)
  }

  @Test func `a snapshot that is in use is never released`() throws {
    let read = try environment.beginRead()
    try environment.set([5], [7])
    for _ in 0..<4 { environment.readerTable.releaseIdle() }
    #expect(try read.copy([5]) == [6])
    #expect(try environment.readerTable.readers().contains { $0.transaction == read.id })
  }

  @Test func `reads of several threads go on while slots are swept`() throws {
    try inThreads(repeating: 3) { _ in
      let value = try environment.value([5])
      #expect(value == [6])
    } during: {
      for _ in 0..<3000 { environment.readerTable.releaseIdle() }
    }
  }

  @Test func `a full reader table is an error that names the processes in it`() throws {
    func nest(_ depth: Int) -> LMDBError? {
      if depth == 0 { return nil }
      do throws(LMDBError) {
        let read = try environment.beginRead()
        let inner = nest(depth - 1)
        #expect(read.id > 0)
        return inner
      } catch {
        #expect(environment.details(of: error).contains("\(getpid()) ("))
        return error
      }
    }
    #expect(nest(1100) == .readersFull)
    #expect(try environment.value([5]) == [6])
  }
}

@Suite struct `The reader in the way` {
  let directory = TemporaryDirectory()
  let environment: Environment

  init() throws {
    environment = try Fixture.open(directory.store, Fixture.options(durability: .temporary))
  }

  @Test func `is none if nobody reads, or what is read is the newest`() throws {
    #expect(try environment.blockingReader() == nil)
    try environment.set([1], [1])
    let read = try environment.beginRead()
    #expect(try environment.blockingReader() == nil)
    #expect(read.id == environment.lastTransaction)
  }

  @Test func `is this process if it looks at what was before the newest commit`() throws {
    let read = try environment.beginRead()
    try environment.set([1], [1])
    let reader = try environment.blockingReader()
    #expect(reader?.process == Int(getpid()))
    #expect(reader?.transaction == read.id)
    #expect(try environment.write { _ in try environment.blockingReader() }?.transaction == read.id)
  }

  @Test(.timeLimit(.minutes(5))) func `is found in time, even if checkpoints are rare`() throws {
    let rare = with(options(.checkpointed)) { $0.lockTimeout = .milliseconds(50) }
    let environment = try Fixture.open(directory.path + "/rare", rare)
    let read = try environment.beginRead()
    try environment.set([1], [1])
    #expect(try environment.blockingReader()?.transaction == read.id)
  }

  @Test func `is the oldest of several processes`() throws {
    let first = try PeerProcess("read", directory.store, ["1"], saying: "reading")
    let snapshot = environment.lastTransaction
    try environment.set([1], [1])
    let second = try PeerProcess("read", directory.store, ["40"], saying: "reading")
    let read = try environment.beginRead()
    try environment.set([1], [2])
    let reader = try environment.blockingReader()
    #expect(reader?.process == first.identifier && reader?.transaction == snapshot)
    #expect(try first.end() == 0)
    #expect(try environment.blockingReader()?.transaction == snapshot + 1)
    #expect(try second.end() == 0)
    #expect(try environment.blockingReader()?.process == Int(getpid()))
    #expect(read.id == snapshot + 1)
  }

  @Test func `is nobody who was killed before a write, even without checkpoints`() throws {
    let peer = try PeerProcess("read", directory.store, ["1"], saying: "reading")
    peer.kill()
    try environment.set([1], [1])
    #expect(try !environment.readerTable.readers().contains { $0.process == peer.identifier })
  }

  @Test func `is nobody who was killed, whose pages are available again`() throws {
    environment.setFileLimit(4 << 20)
    try environment.set([1], Fixture.filling(1, count: 1 << 20))
    let peer = try PeerProcess("read", directory.store, ["1"], saying: "reading")
    try environment.write { _ = try $0.remove([1].span, from: .main) }
    for number in 2..<5 { try environment.set([1], [UInt8(number)]) }
    let reusable = { try environment.write { try $0.availablePages(upTo: .max, limit: 0) } }
    #expect(try reusable() < 100)
    peer.kill()
    #expect(try reusable() > 256)
    #expect(try environment.blockingReader() == nil)
  }
}
