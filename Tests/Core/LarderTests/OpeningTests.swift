import Foundation
import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct OpeningTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path }

  private func code(_ path: String, _ options: Store.Options = .init()) -> LarderError.Code? {
    failure { try Store(at: path, options: options).close() }
  }

  private func place(_ data: Data, at path: String) throws {
    try makePrivateDirectory(path)
    try makePrivateFile(path + "/data.mdb", data)
  }

  @Test func `a new store is private to the user, and checkpointed`() throws {
    try withStoreOnDisk { store, _ in
      #expect(store.durability == .checkpointed)
      try store.namespace("notes").set("v", for: "k")
      #expect(try permissions(of: store.path) == 0o700)
      for file in try FileManager.default.contentsOfDirectory(atPath: store.path) {
        #expect(try permissions(of: store.path + "/" + file) == 0o600, "\(file)")
      }
    }
  }

  @Test func `what is no store is refused, each kind with its own code`() throws {
    let manager = FileManager.default
    #expect(code(path + "/none", Store.Options(create: false)) == .notFound)
    #expect(code(path + "/no/parent") == .notFound)
    #expect(!manager.fileExists(atPath: path + "/none"))
    #expect(code(path + "/none", Store.Options(readOnly: true)) == .notFound)

    #expect(manager.createFile(atPath: path + "/file", contents: Data([1])))
    #expect(code(path + "/file") == .foreign)
    try makePrivateDirectory(path + "/full")
    #expect(manager.createFile(atPath: path + "/full/photo.jpg", contents: Data([1])))
    #expect(code(path + "/full") == .foreign)
    #expect(try manager.contentsOfDirectory(atPath: path + "/full") == ["photo.jpg"])

    try place(Data("this is no LMDB file, but text".utf8), at: path + "/text")
    #expect(code(path + "/text") == .foreign || code(path + "/text") == .damaged)
    var random = SeededRNG()
    try place(Data(random.bytes(20_000)), at: path + "/noise")
    #expect(code(path + "/noise") == .foreign)
    try place(Data(repeating: 0, count: 65_536), at: path + "/zeros")
    #expect(code(path + "/zeros") == .foreign)

    let foreign = with(EnvironmentOptions()) { $0.signature = [1] }
    let other = try Environment.open(at: path + "/other", options: foreign) {
      (transaction: inout WriteTransaction) throws(LMDBError) in
      try transaction.put([1], for: [1], in: .main)
    }
    other.close()
    #expect(code(path + "/other") == .foreign)
  }

  /// A record of format 1 has only the mark, the version and the identity of the store.
  @Test(arguments: [(UInt32(1), LarderError.Code.cannotOpen), (6, .newerFormat)])
  func `another format is refused in words, and left alone`(
    version: UInt32, code: LarderError.Code
  ) throws {
    let store = try Store(at: path + "/s")
    let new = with(StoreFormat.new()) { $0.version = version }
    let old = StoreFormat.mark + [1, 0, 0, 0] + store.engine.identity
    try store.plant(version == 1 ? old : new.encoded, for: MetadataKey.format)
    try store.close()
    try expectRefusal(code, "format \(version)")
    // A record of format 1 has no checksum, so a salvage cannot distinguish the record from a damaged record.
    if version == 1 { return }
    #expect(failure { _ = try Store.salvage(from: path + "/s", to: path + "/new") } == code)
    #expect(!FileManager.default.fileExists(atPath: path + "/new"))
  }

  private func expectRefusal(
    _ code: LarderError.Code, _ words: String, _ options: Store.Options = .init()
  ) throws {
    let file = URL(fileURLWithPath: path + "/s/data.mdb")
    let before = try Data(contentsOf: file)
    let error = thrown { _ = try Store(at: path + "/s", options: options) }
    #expect(error?.code == code)
    #expect(error?.message.contains(words) == true && error?.hint != nil)
    #expect(try Data(contentsOf: file) == before)
  }

  @Test func `format 3, which lacks a database, is refused in words, and left alone`() throws {
    var options = EnvironmentOptions()
    options.databases = ["deadlines", "queue", "tags", "chunks"]
    options.signature = MetadataKey.format
    let old = try Environment.open(at: path + "/s", options: options) {
      (transaction: inout WriteTransaction) throws(LMDBError) in
      let format = with(StoreFormat.new()) { $0.version = 3 }
      try transaction.put(format.encoded, for: MetadataKey.format, in: .main)
    }
    old.close()
    for isReadOnly in [false, true] {
      try expectRefusal(.cannotOpen, "format 3", Store.Options(readOnly: isReadOnly))
    }
  }

  @Test func `a damaged record of the format is refused as damage`() throws {
    for place in 8..<36 {
      let store = try Store(at: path + "/\(place)")
      try store.tamper { transaction, _ in
        let present = try transaction.value(for: MetadataKey.format, in: .main)?.copied
        let record = with(try #require(present)) { $0[place] ^= 8 }
        try transaction.put(record, for: MetadataKey.format, in: .main)
      }
      try store.close()
      let isVersion = (8..<12).contains(place)
      #expect(code(path + "/\(place)") == (isVersion ? .newerFormat : .damaged), "\(place)")
    }
  }

  @Test func `a directory that others may write to is refused, with a remedy`() throws {
    try Store.leave(at: path + "/s")
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path + "/s")
    let error = #expect(throws: LarderError.self) { try Store(at: path + "/s") }
    #expect(error?.code == .cannotOpen && error?.hint?.contains("chmod") == true)
  }
}

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
    try store.verifyAndClose()
  }

  @Test func `a store that could not be completed leaves nothing in the way of the next`() throws {
    let error = thrown {
      try Store.making(at: path, Store.Options()) { store in
        try store.namespace("notes").set("x", for: "k")
        throw LarderError(.full, "no space left", hint: "free space")
      }
    }
    #expect(error?.code == .full && error?.hint == "free space")
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

  @Test func `a name of any length has room for that of the unfinished store`() throws {
    let path = directory.path + "/" + String(repeating: "\u{20AC}", count: 85)
    try make(at: path)
    #expect(try Store(at: path).namespace("notes").count() == 1)
    #expect(failure { try make(at: directory.path + "/no/new") } == .notFound)
  }
}
