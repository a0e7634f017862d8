import Foundation
import LMDB
import TestSupport
import Testing

@testable import Larder

@Suite struct MakingTests {
  let directory = TemporaryDirectory()

  private var path: String { directory.path + "/new" }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
  }

  private func make(at path: String, _ number: Int = 1) throws {
    try Store.making(at: path, Store.Options()) { store in
      for key in 0..<number { try store.namespace("notes").set("whole", for: key) }
    }
  }

  @Test func `a kill while a store is made leaves nothing in the way of the next`() throws {
    let peer = try PeerProcess("make", path, saying: "half")
    #expect(try names == [".new.unfinished"])
    #expect(failure { try make(at: path) } == .busy, "the other process is at it")
    peer.kill()
    #expect(failure { _ = try Store(at: path, options: Store.Options(create: false)) } == .notFound)
    try make(at: path + "/", 3)
    #expect(try names == ["new"])
    let store = try Store(at: path)
    #expect(try store.namespace("notes").count() == 3)
    #expect(try store.verify().faults.isEmpty)
    try store.close()
  }

  @Test func `a store that could not be completed leaves nothing in the way of the next`() throws {
    let error = thrown {
      try Store.making(at: path, Store.Options()) { store in
        try store.namespace("notes").set("x", for: "k")
        throw LarderError(.full, "no space left", hint: "the store is intact")
      }
    }
    #expect(error?.code == .full && error?.hint?.contains("intact") == false)
    #expect(!FileManager.default.fileExists(atPath: path))
    try Store.making(at: path, Store.Options()) { try $0.namespace("notes").set("x", for: "k") }
    #expect(throws: LarderError.self) { try Store.making(at: path, Store.Options()) { _ in } }
    #expect(try Store(at: path).namespace("notes").count() == 1)
  }

  @Test func `of two that make a store at a place one does, whenever the other comes`() throws {
    let peer = try PeerProcess("make", path, saying: "half")
    try peer.endInput()
    #expect(peer.line() == "made")
    #expect(failure { try make(at: path) } == .exists)
    #expect(try names == ["new"])
    #expect(try Store(at: path).namespace("notes").value(for: "k") == "half")
  }

  @Test func `a store that others have made stays, at the place and under names like it`() throws {
    for name in ["new.new", "new.unfinished"] {
      try Store.leave("own", at: directory.path + "/" + name)
    }
    #expect(
      failure {
        try Store.making(at: path, Store.Options()) { _ in try Store.leave("own", at: path) }
      } == .exists)
    #expect(try names == ["new", "new.new", "new.unfinished"])
    for name in try names {
      let store = try Store(at: directory.path + "/" + name)
      #expect(try store.namespace("notes").value(for: "k") == "own")
      try store.close()
    }
  }

  @Test func `a compact copy leaves a store with a name like that of its place alone`() throws {
    for name in ["old", "copy.new"] { try Store.leave(name, at: directory.path + "/" + name) }
    let old = try Store(at: directory.path + "/old")
    _ = try old.copyCompacted(to: directory.path + "/copy")
    #expect(try names == ["copy", "copy.new", "old"])
    let other = try Store(at: directory.path + "/copy.new")
    #expect(try other.namespace("notes").value(for: "k") == "copy.new")
  }

  @Test func `a name of any length has room for that of the unfinished store`() throws {
    let path = directory.path + "/" + String(repeating: "\u{20AC}", count: 85)
    try make(at: path)
    #expect(try Store(at: path).namespace("notes").count() == 1)
    #expect(failure { try make(at: directory.path + "/no/new") } == .notFound)
  }
}
