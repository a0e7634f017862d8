import LMDB
import TestSupport
import Testing

@testable import Larder

@Suite struct `Durability of stores` {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path }

  @Test func `closing reports once that the disk did not take the last writes`() throws {
    let peer = try PeerProcess("fail-sync-at-closing", path + "/s")
    #expect([peer.line(), peer.line(), peer.line()] == ["failed", "closed", "again kept"])
  }

  @Test func `asking for another durability than the store has is refused with words`() throws {
    try Store(at: path + "/s", options: options(.scratch)).close()
    let error = #expect(throws: LarderError.self) {
      try Store(at: path + "/s", options: options(.durable))
    }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("it is scratch, and durable is required") == true)
    #expect(error?.hint != nil)
  }

  @Test func `the durability of a store that nobody has open can be changed`() throws {
    let store = try Store(at: path + "/s", options: options(.scratch))
    try store.namespace("notes").set("v", for: "k")
    #expect(failure { try Store.change(durability: .durable, ofStoreAt: path + "/s") } != nil)
    // The refused change closes no open store.
    for _ in 0..<2 { try store.namespace("notes").set("w", for: "l") }
    try store.close()
    try Store.change(durability: .durable, ofStoreAt: path + "/s")
    let changed = try Store(at: path + "/s", options: options(nil, boot: 2))
    #expect(changed.durability == .durable)
    #expect(try changed.namespace("notes").text("k") == "v")
    try changed.close()
    #expect(
      failure { try Store.change(durability: .durable, ofStoreAt: path + "/no") } == .notFound)
  }

  @Test(arguments: [Durability.checkpointed, .scratch])
  func `a store that needs recovery is not opened for reading only`(durability: Durability) throws {
    let store = try Store(at: path + "/s", options: options(durability))
    try store.namespace("notes").set("v", for: "k")
    try directory.copy(from: "s", to: "cut")
    let reading = with(options(nil, boot: 2)) { $0.readOnly = true }
    #expect(failure { _ = try Store(at: path + "/cut", options: reading) } == .needsRecovery)
    let recovered = try Store(at: path + "/cut", options: options(nil, boot: 2))
    #expect(try recovered.namespace("notes").text("k") == nil)
    try recovered.verifyAndClose()
    #expect(failure { try Store(at: path + "/cut", options: reading).close() } == nil)
    try store.close()
  }

  @Test(arguments: Durability.allCases)
  func `syncing or closing inside a write is refused with words`(durability: Durability) throws {
    try withStoreOnDisk(options(durability)) { store, notes in
      try store.write { batch in
        try batch.set("v", for: "k", in: notes)
        let error = #expect(throws: LarderError.self) { try store.sync() }
        #expect(error?.code == .insideWrite && error?.hint != nil)
        #expect(failure { try store.close() } == .insideWrite)
      }
      try notes.update("k") { value in
        #expect(failure { try store.sync() } == .insideWrite)
        #expect(failure { try store.close() } == .insideWrite)
        return value
      }
      try store.sync()
      #expect(try notes.text("k") == "v")
      #expect(try store.statistics().durability == durability)
    }
  }

  @Test func `a full checkpointed store goes on, though its pages wait for checkpoints`() throws {
    try withStoreOnDisk(options(.checkpointed)) { store, notes in
      try store.declare(StoreLimits(disk: 8_000_000))
      for number in 0..<1500 {
        try notes.set([UInt8](repeating: 7, count: 500 + number * 37 % 15_000), for: number)
      }
      for round in 0..<100 {
        try notes.fill(round * 10..<round * 10 + 10, with: [UInt8](repeating: 8, count: 3000))
      }
      #expect(store.engine.environment.fileSize <= 8_000_000)
      #expect(try notes.count() > 300)
    }
  }
}
