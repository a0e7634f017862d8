import Foundation
import LMDB
import TestSupport
import Testing

@testable import Larder

@Suite struct SalvageTests {
  let directory: TemporaryDirectory
  let clock = ManualClock()
  init() throws { directory = try TemporaryDirectory() }

  private var options: Store.Options {
    var options = Store.Options()
    options.clock = clock
    options.durability = .scratch
    options.chunksAbove = 9000
    return options
  }

  private static func value(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 50 == 0 ? 12_000 : number)
  }

  /// - Returns: the numbers of the namespaces `notes` and `numbers`.
  @discardableResult
  private func makeStore(_ path: String) throws -> [UInt32] {
    let store = try Store(at: path, options: options)
    var rules = Rules()
    rules.expires = .after(.hours(5))
    try store.declare(rules, for: "notes")
    try store.write { batch in
      for number in 0..<400 {
        var attributes = EntryAttributes(expires: number % 3 == 0 ? .after(.hours(1)) : .never)
        attributes.tags = ["tag\(number % 4)"]
        attributes.metadata = [UInt8(number % 256)]
        attributes.isPinned = number % 100 == 1
        try batch.set(
          Self.value(number), for: "key-\(number)", in: store.namespace("notes"), attributes)
        try batch.set("\(number)", for: number, in: store.namespace("numbers"))
      }
      let long = String(repeating: "long", count: 100)
      try batch.set("of a long key", for: long, in: store.namespace("notes"))
    }
    try store.namespace("notes").set("short-lived", for: "gone", expires: .after(.seconds(1)))
    clock.advance(by: .seconds(2))
    let numbers = try ["notes", "numbers"].map { try #require(try store.namespace($0).number()) }
    try store.close()
    return numbers
  }

  private func damage(_ path: String, _ body: (inout Data) -> Void) throws {
    let file = URL(fileURLWithPath: path + "/data.mdb")
    var data = try Data(contentsOf: file)
    body(&data)
    try data.write(to: file)
  }

  @Test func `everything in a sound store is saved as it was`() throws {
    let (path, target) = (directory.path + "/old", directory.path + "/new")
    try makeStore(path)
    let salvage = try Store.salvage(from: path, to: target, options: options)
    #expect(salvage.isComplete)
    #expect(salvage.entries == 801 && salvage.namespaces == 2 && salvage.leftOut == 1)
    let old = try Store(at: path, options: options)
    let new = try Store(at: target, options: options)
    for number in 0..<400 {
      let key = "key-\(number)"
      let before = try #require(try old.namespace("notes").entry(for: key))
      var after = try #require(try new.namespace("notes").entry(for: key))
      after.version = before.version
      after.lastUsed = before.lastUsed
      #expect(after == before)
      #expect(try new.namespace("notes").bytes(key) == Self.value(number))
      #expect(try new.namespace("numbers").text(number) == "\(number)")
    }
    let infos = try new.namespaces()
    #expect(infos.first { $0.name == "notes" }?.declared.expires == .after(.hours(5)))
    #expect(try new.verify().faults == [])
    #expect(failure { _ = try Store.salvage(from: path, to: target) } == .exists)
  }

  @Test func `what damaged pages leave is saved, and no value is wrong`() throws {
    for seed in TestSettings.seeds(corpus: 6) {
      let (path, target) = (directory.path + "/old\(seed)", directory.path + "/new\(seed)")
      let ids = try makeStore(path)
      var random = SeededRNG(seed: seed)
      try damage(path) { data in
        for _ in 0..<random.next(in: 1..<6) {
          let page = random.next(in: 0..<data.count / 4096)
          data[page * 4096 + random.next(in: 0..<(random.chance(percent: 60) ? 16 : 4096))] ^=
            1 << UInt8(random.next(in: 0..<8))
        }
      }
      let salvage = try Store.salvage(from: path, to: target, options: options)
      let new = try Store(at: target, options: options)
      // Where the name of a namespace is lost, its number names it.
      let names = try new.namespaces().map(\.name)
      let (notes, texts) = (
        new.namespace(names.contains("notes") ? "notes" : "salvaged-\(ids[0])"),
        new.namespace(names.contains("numbers") ? "numbers" : "salvaged-\(ids[1])")
      )
      var found = 0
      for number in 0..<400 {
        if let value = try notes.bytes("key-\(number)") {
          found += 1
          #expect(value == Self.value(number), "seed \(seed)")
        }
        if let text = try texts.text(number) {
          found += 1
          #expect(text == "\(number)", "seed \(seed)")
        }
      }
      #expect(
        found <= salvage.entries && salvage.entries <= found + 1,
        "seed \(seed): \(found) of \(salvage)")
      #expect(found == 800 || !salvage.isComplete, "seed \(seed): \(salvage)")
      #expect(try new.verify().faults == [], "seed \(seed)")
      try new.close()
    }
  }

  @Test func `verify names damaged pages and goes on`() throws {
    let path = directory.path + "/old"
    try makeStore(path)
    let store = try Store(at: path, options: options)
    let sound = try store.verify()
    #expect(sound.faults == [])
    // A leaf of the entries, found by a key that it has.
    try damage(path) { data in
      var start = 0
      while let place = data.range(of: Data("key-200".utf8), in: start..<data.count)?.lowerBound {
        data[place / 4096 * 4096 + 12] ^= 0x08
        start = (place / 4096 + 1) * 4096
      }
    }
    let found = try store.verify()
    #expect(found.faults.contains { $0.kind == .pages })
  }
}
