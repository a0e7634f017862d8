import Foundation
import LMDB
import LarderPeer
import TestSupport
import Testing

@Suite struct `The reader in the way` {
  let directory = TemporaryDirectory()
  let environment: Environment

  init() throws {
    environment = try Fixture.open(directory.store, Fixture.options(durability: .temporary))
  }

  private var mine: Int { Int(getpid()) }

  private func isBlocking(_ process: Int, _ transaction: UInt64) throws -> Bool {
    let reader = try environment.blockingReader()
    return reader?.process == process && reader?.transaction == transaction
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
    #expect(try isBlocking(mine, read.id))
    let inside = try environment.write { _ in try environment.blockingReader() }
    #expect(inside?.transaction == read.id)
  }

  @Test func `is the oldest of several processes`() throws {
    let first = try PeerProcess("read", directory.store, ["1"], saying: "reading")
    let snapshot = environment.lastTransaction
    try environment.set([1], [1])
    let second = try PeerProcess("read", directory.store, ["40"], saying: "reading")
    let read = try environment.beginRead()
    try environment.set([1], [2])
    #expect(try isBlocking(first.identifier, snapshot))
    #expect(try first.end() == 0)
    #expect(try environment.blockingReader()?.transaction == snapshot + 1)
    #expect(try second.end() == 0)
    #expect(try environment.blockingReader()?.process == mine)
    #expect(read.id == snapshot + 1)
  }

  @Test func `is nobody who was killed, whose pages are available again`() throws {
    environment.setFileLimit(4 << 20)
    try environment.set([1], Fixture.filling(1, count: 1 << 20))
    let peer = try PeerProcess("read", directory.store, ["1"], saying: "reading")
    try environment.write { _ = try $0.remove([1].span, from: .main) }
    for number in 2..<5 { try environment.set([1], [UInt8(number)]) }
    func reusable() throws -> Int {
      try environment.write { try $0.availablePages(upTo: .max, limit: 0) }
    }
    #expect(try reusable() < 100)
    peer.kill()
    #expect(try reusable() > 256)
    #expect(try environment.blockingReader() == nil)
  }
}
