import Foundation
import LMDB
import LarderPeer
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

  @Test func `threads that read, ask and write while the store closes get an answer or closed`()
    throws
  {
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

  @Test
  func
    `after the meta page could not be written the store must be opened anew, and nothing is lost`()
    throws
  {
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
