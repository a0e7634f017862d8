import Foundation
import LMDB
import LarderPeer
import TestSupport
import Testing

@Suite struct `Idle readers` {
  let directory = TemporaryDirectory()
  let environment: Environment

  init() throws {
    environment = try Fixture.open(directory.store)
    try environment.set([5], [6])
  }

  private func ownSlots() throws -> Int {
    try environment.readerTable.readers().filter { $0.process == Int(getpid()) }.count
  }

  @Test func `a slot that was not used between two sweeps is released, and reading goes on`() throws
  {
    _ = try environment.value([5])
    #expect(try ownSlots() == 1)
    // No listing between the sweeps: a listing would use a slot itself.
    environment.readerTable.releaseIdle()
    environment.readerTable.releaseIdle()
    #expect(try ownSlots() == 0)
    #expect(try environment.value([5]) == [6])
    #expect(try ownSlots() == 1)
  }

  @Test func `a slot that is used between two sweeps is kept`() throws {
    for _ in 0..<5 {
      _ = try environment.value([5])
      environment.readerTable.releaseIdle()
    }
    #expect(try ownSlots() >= 1)
  }

  @Test func `a snapshot that is in use is never released`() throws {
    let read = try environment.beginRead()
    try environment.set([5], [7])
    for _ in 0..<4 { environment.readerTable.releaseIdle() }
    #expect(try read.copy([5]) == [6])
    #expect(try environment.readerTable.readers().contains { $0.transaction == read.id })
  }

  @Test func `reads of several threads go on while slots are swept`() throws {
    let done = Flag()
    try inThreads(4) { thread in
      if thread == 0 {
        defer { done.set() }
        for _ in 0..<3000 { environment.readerTable.releaseIdle() }
        return
      }
      while !done.isSet {
        let value = try environment.value([5])
        #expect(value == [6])
      }
    }
  }

  @Test func `a full reader table is an error that names the processes in it`() throws {
    func nest(_ depth: Int) throws -> LMDBError? {
      if depth == 0 { return nil }
      do throws(LMDBError) {
        let read = try environment.beginRead()
        let inner = try nestResult(depth - 1)
        #expect(read.id > 0)
        return inner
      } catch {
        #expect(environment.details(of: error).contains("\(getpid()) ("))
        return error
      }
    }
    func nestResult(_ depth: Int) throws(LMDBError) -> LMDBError? {
      do { return try nest(depth) } catch { return error as? LMDBError }
    }
    #expect(try nest(1100) == .readersFull)
    #expect(try environment.value([5]) == [6])
  }
}
