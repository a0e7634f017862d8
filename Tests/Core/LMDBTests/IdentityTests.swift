import Foundation
import LMDB
import LarderPeer
import TestSupport
import Testing

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
    ] {
      #expect(try Fixture.open(path) === first, "\(path)")
    }
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
        } catch let error as LMDBError where error == .closed {
          continue
        }
        if round % 7 == thread % 7 { environment.close() }
      }
    }
    let environment = try Fixture.open(store)
    let mine = try environment.readerTable.readers().filter { $0.process == Int(getpid()) }
    #expect(mine.count <= 16)
  }
}
