import CLarderSystem
import Foundation
import LMDB
import LarderPeer
import LarderSystem
import TestSupport
import Testing

@Suite struct Closing {
  let directory = TemporaryDirectory()
  private var impatient: EnvironmentOptions { Fixture.options(lockTimeout: .milliseconds(200)) }

  @Test func `a read under way keeps its bytes, and opening anew waits for its end`() throws {
    let environment = try Fixture.open(directory.store, impatient)
    try environment.set([5], [6])
    do {
      let read = try environment.beginRead()
      #expect(!environment.close())
      #expect(failure { _ = try environment.value([5]) } == .closed)
      #expect(refusal(directory.store, impatient) == .stillClosing)
      #expect(try read.copy([5]) == [6])
    }
    let again = try Fixture.open(directory.store)
    #expect(again !== environment)
    #expect(try again.value([5]) == [6])
  }

  @Test func `a write that outlives the first close is safe after the second close`() throws {
    let environment = try Fixture.open(
      directory.store, with(options(.checkpointed)) { $0.lockTimeout = .milliseconds(100) })
    let (begun, closed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    try inThreads(2) { thread in
      if thread == 0 {
        begun.wait()
        #expect(!environment.close())
        closed.signal()
      } else {
        try environment.write { transaction in
          try transaction.put([6].span, for: [5].span, in: .main)
          begun.signal()
          closed.wait()
        }
      }
    }
    #expect(environment.close() && environment.takeClosingFailure() == nil)
    #expect(try Fixture.open(directory.store, options(nil, boot: 2)).value([5]) == [6])
  }

  @Test(arguments: [true, false])
  func `scratch: a close that cannot know whether writes are safe says so`(syncs: Bool) throws {
    let environment = try Fixture.open(
      directory.store, with(options(.scratch)) { $0.lockTimeout = .milliseconds(50) })
    try environment.set([5], [6])
    if syncs { try environment.sync() }
    let other = try FileLock(opening: directory.store + "/lock.opening", in: ForkGuard())
    #expect(try other.take())
    #expect(environment.close())
    #expect(environment.takeClosingFailure() == (syncs ? nil : .openingBusy))
  }

  @Test func `threads that read, ask and write during a close get an answer or closed`() throws {
    for _ in 0..<15 {
      let environment = try Fixture.open(directory.store)
      try inThreads(5) { thread in
        do {
          if thread == 0 {
            usleep(useconds_t.random(in: 0..<2000))
            #expect(environment.close())
          }
          while true {
            switch thread {
            case 1: _ = try environment.value(Fixture.signature)
            case 2: try environment.set([9], [9])
            case 3:
              _ = environment.info
              _ = try environment.readerTable.readers()
            default:
              _ = environment.lastTransaction
              try environment.readerTable.clearDead()
            }
          }
        } catch let error as LMDBError where error == .closed {}
      }
    }
  }

  @Test func `closing inside a write is a programming error`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [store = (directory.path + "/other") as String] in
      let environment = try Fixture.open(store)
      try environment.write { _ in _ = environment.close() }
    }
    let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(text.contains("closing a store inside one of its own writes"))
  }

  @Test func `after a failed meta page write a store must open anew, and loses nothing`() throws {
    let peer = try PeerProcess("fail-meta", directory.store)
    #expect(
      peer.lines() == [
        "swapped true", "write full", "read panic", "write panic", "anew true [1]", "after [4]",
        "old closed",
      ])
    #expect(try peer.end() == 0)
    #expect(try Fixture.open(directory.store).value([1]) == [4])
  }
}

@Suite struct `One environment per store` {
  let directory = TemporaryDirectory()

  @Test func `every path to a store leads to the same environment`() throws {
    let first = try Fixture.open(directory.store)
    let link = directory.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.path)
    let here = FileManager.default.currentDirectoryPath
    let up = here.split(separator: "/").map { _ in ".." }.joined(separator: "/")
    for path in [
      directory.store, link + "/store", directory.path + "/./store/../store/",
      up + "/" + directory.store,
    ] { #expect(try Fixture.open(path) === first, "\(path)") }
  }

  @Test func `a closed store can be opened again`() throws {
    let first = try Fixture.open(directory.store)
    try first.set([5], [6])
    #expect(first.close())
    #expect(first.close())
    let second = try Fixture.open(directory.store)
    #expect(first !== second)
    #expect(try second.value([5]) == [6])
    #expect(failure { _ = try first.value([5]) } == .closed)
    #expect(failure { try first.set([5], [7]) } == .closed)
    #expect(failure { try first.sync() } == .closed)
    #expect(failure { try first.readerTable.clearDead() } == .closed)
    #expect(failure { _ = try first.readerTable.readers() } == .closed)
    #expect(first.lastTransaction == 0)
    #expect(first.info.mapSize == 0)
    try second.set([5], [8])
  }

  @Test func `many threads that open and close at once share one environment at a time`() throws {
    let store = directory.store
    try inThreads(8) { thread in
      for round in 0..<20 {
        let environment = try Fixture.open(store)
        do {
          try environment.set([7, UInt8(thread)], [UInt8(round)])
        } catch let error as LMDBError where error == .closed { continue }
        if round % 7 == thread % 7 { environment.close() }
      }
    }
    #expect(try Fixture.open(store).ownReaders().count <= 16)
  }
}
