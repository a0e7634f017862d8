import LMDB
import TestSupport
import Testing

@testable import Larder

@Suite struct InvalidationTests: StoreSuite {
  let fixture = StoreFixture()

  /// Invalidates the entries that have all `tags`, and stops after the first transaction, to simulate a killed process.
  @discardableResult
  private func begin(
    _ tags: [String], in store: Store, removing limit: Int, _ mode: CommitMode = .withoutCleanup
  ) throws -> RemovalResult {
    try store.engine.commit(mode) { batch in
      let bytes = tags.map { Array($0.utf8) }
      return try batch.session.beginInvalidation(of: bytes, in: nil, limit: limit).removal
    }
  }

  @Test func `of several tags an entry must carry all`() throws {
    let boards = store.namespace("boards")
    try notes.set([1], for: "a", .with(tags: ["x", "y", "z"]))
    try notes.set([2], for: "b", .with(tags: ["x"]))
    try notes.set([3], for: 7, .with(tags: ["y", "x"]))
    let long = String(repeating: "k", count: 300)
    try notes.set([4], for: long, .with(tags: ["y", "x"]))
    try boards.set([5], for: "a", .with(tags: ["x", "y"]))
    #expect(try notes.keys(tags: ["x", "y"]) == [Key("a"), Key(long), Key(7)])
    #expect(try notes.keys(tags: ["x"]).count == 4 && notes.keys(tags: ["z"]) == [Key("a")])
    #expect(try notes.keys(tags: ["xy"]) == [] && store.namespace("none").keys(tags: ["x"]) == [])
    #expect(try notes.invalidate(tags: ["y", "x", "z"]) == RemovalResult(entries: 1, bytes: 1))
    try begin(["y", "x"], in: store, removing: 1)
    #expect(try notes.keys(tags: ["x"]) == [Key("b")] && boards.keys(tags: ["x"]) == [])
    #expect(try store.state.tombstones == 1 && notes.bytes("b") == [2] && boards.bytes("a") == nil)
    #expect(failure { try store.invalidate(tags: []) } == .invalidArgument)
    #expect(failure { _ = try notes.keys(tags: ["x", ""]) } == .invalidArgument)
  }

  @Test func `thousands of entries go in bounded transactions`() throws {
    try notes.fill(0..<2300, .with(tags: ["t"]))
    try notes.fill(3000..<3100, .with(tags: ["other"]))
    let before = try store.statistics().file.transaction
    #expect(try store.invalidate(tag: "t") == RemovalResult(entries: 2300, bytes: 2300))
    #expect(try store.statistics().file.transaction == before + 5)
    #expect(try notes.count() == 100 && store.state.tombstones == 0)
  }

  @Test func `a load after an invalidation stores its value`() async throws {
    let cache = store.cache(BytesCodec(), in: "notes")
    try notes.fill((0..<100).map { "k\($0)" }, .with(tags: ["t"]))
    try begin(["t"], in: store, removing: 10)
    let value = try await cache.value(for: "k99", options: LoadOptions(waitsForCommit: true)) {
      // The entry that the invalidation has hidden is removed during the load.
      try cache.namespace.engine.commit { try $0.session.resumeFirstInvalidation(limit: 1000) }
      return [9]
    }
    #expect(try value == [9] && notes.bytes("k99") == [9] && notes.count() == 1)
  }

  @Test func `an invalidation in one namespace does not read the entries of others`() throws {
    let other = store.namespace("other")
    try other.fill(0..<1200, .with(tags: ["t"]))
    try notes.set([1], for: 1, .with(tags: ["t"]))
    let before = store.engine.environment.lastTransaction
    #expect(try notes.invalidate(tag: "t").entries == 1)
    #expect(try store.engine.environment.lastTransaction == before + 1 && other.count() == 1200)
  }

  @Test func `what is not removed yet is not to be found by any read or listing`() throws {
    let cache = store.cache(BytesCodec(), in: "notes")
    try notes.fill((0..<100).map { "k\($0)" }, .with(tags: ["t"]))
    try notes.set([2], for: "other", .with(tags: ["u"]))
    // This read keeps the value in memory. The invalidation must also hold for values in memory.
    #expect(try cache.value(for: "k50") == [1])
    #expect(try begin(["t"], in: store, removing: 10) == RemovalResult(entries: 10, bytes: 10))
    #expect(try store.state.tombstones == 1 && notes.count() == 91)
    for key in 0..<100 {
      #expect(try notes.bytes("k\(key)") == nil && cache.value(for: "k\(key)") == nil)
      #expect(try !notes.contains("k\(key)") && notes.entry(for: "k\(key)") == nil)
    }
    #expect(try notes.page(limit: 50).items.map(\.key) == [Key("other")] && store.verify().isSound)
    try store.engine.commit(.withoutCleanup) { batch in
      let value = try batch.value(for: "k60", in: notes)
      let entry = try batch.entry(for: "k60", in: notes)
      let touched = try batch.touch("k60", in: notes)
      let removed = try batch.remove("k61", from: notes)
      #expect(value == nil && entry == nil && !touched && !removed)
    }
    #expect(try notes.removals[.invalidated] == 11 && notes.removals[.removed] == 0)
    #expect(try notes.setIfAbsent([9], for: "k62") && notes.bytes("k62") == [9])
  }

  @Test(arguments: [false, true])
  func `what a damaged tombstone hid is never found again`(isLost: Bool) throws {
    try notes.fill((0..<100).map { "k\($0)" }, .with(tags: ["t"]))
    try notes.set([2], for: "other", .with(tags: ["u"]))
    try notes.set([3], for: "plain")
    try begin(["t"], in: store, removing: 10)
    let key = try #require(
      try store.keys(in: { _ in .main }).first { $0.starts(with: MetadataKey.tombstones) })
    try store.tamper { transaction, _ in
      if isLost {
        try transaction.remove(key, from: .main)
      } else {
        try transaction.put([1, 2, 3], for: key, in: .main)
      }
    }
    #expect(try !store.verify().isSound && notes.bytes("plain") == [3])
    for key in 0..<100 { #expect(try notes.bytes("k\(key)") == nil) }
    try notes.set([4], for: "k99")
    for number in 0..<6 {
      #expect(try notes.bytes("k50") == nil && notes.entry(for: "k50") == nil)
      try notes.set([UInt8(number)], for: "plain")
    }
    #expect(try store.state.tombstones == 0 && notes.count() == 2)
    #expect(try notes.bytes("k99") == [4] && notes.bytes("plain") == [5])
    try notes.set([5], for: "k50", .with(tags: ["t"]))
    #expect(try notes.bytes("k50") == [5])
  }

  @Test func `later writes carry on, a few at a time, and what has the tag since stays`() throws {
    try notes.fill((0..<100).map { "k\($0)" }, .with(tags: ["t"]))
    try notes.set([1], for: "owned", .with(owners: [Owner(Key("k99"), in: "notes")]))
    try begin(["t"], in: store, removing: 10)
    try notes.set([7], for: "k99", .with(tags: ["t"]))
    try notes.set([8], for: "new", .with(tags: ["t"]))
    #expect(try notes.bytes("k99") == [7] && notes.bytes("new") == [8])
    #expect(try store.state.tombstones == 1)
    for number in 0..<3 { try store.write { try $0.set([UInt8(number)], for: "write", in: notes) } }
    #expect(try store.state.tombstones == 0 && notes.count() == 3)
    #expect(try notes.bytes("k99") == [7] && notes.bytes("new") == [8])
    #expect(try store.invalidate(tag: "t") == RemovalResult(entries: 2, bytes: 2))
  }

  @Test func `another process's invalidation is seen by the next read, in memory too`() throws {
    try withStoreOnDisk { store, _ in
      let notes = store.cache(BytesCodec(), in: "notes")
      try notes.namespace.fill((0..<700).map { "k\($0)" }, .with(tags: ["t"]))
      for key in 0..<700 { #expect(try notes.value(for: "k\(key)") == [1]) }
      let peer = try PeerProcess("commands", store.path, saying: "open")
      #expect(try peer.ask("invalidate notes t") == "done")
      for key in 0..<700 { #expect(try notes.value(for: "k\(key)") == nil) }
      try peer.endInput()
      #expect(peer.line() == "closed")
    }
  }

  @Test func `random writes and half-done invalidations agree with a model`() throws {
    var random = SeededRNG()
    let spaces = [store.namespace("a"), store.namespace("b")]
    var model: [[String: (value: [UInt8], tags: [String])]] = [[:], [:]]
    for step in 0..<3000 {
      let space = random.next(in: 0..<2)
      let key = "k\(random.next(in: 0..<60))"
      switch random.next(in: 0..<21) {
      case 20:
        let tags = ["t0", "t\(random.next(in: 1..<3))"]
        try begin(tags, in: store, removing: random.next(in: 1..<20))
        for index in model.indices {
          model[index] = model[index].filter { !tags.allSatisfy($1.tags.contains) }
        }
      case 0..<12:
        let tags = (0..<3).filter { _ in random.chance(percent: 40) }.map { "t\($0)" }
        let value = [UInt8(random.next(in: 0..<256))]
        try spaces[space].set(value, for: key, .with(tags: tags))
        model[space][key] = (value, tags)
      case 12..<14:
        let wasThere = model[space].removeValue(forKey: key) != nil
        #expect(
          try spaces[space].remove(key) == wasThere, "LARDER_SEED=\(random.seed), step \(step)")
      case 14..<17:
        let tag = "t\(random.next(in: 0..<3))"
        let limit = random.next(in: 1..<20)
        let mode = CommitMode(cleansUp: !random.chance(percent: 70))
        try begin([tag], in: store, removing: limit, mode)
        for index in model.indices { model[index] = model[index].filter { !$1.tags.contains(tag) } }
      case 17:
        let tag = "t\(random.next(in: 0..<3))"
        try spaces[space].invalidate(tag: tag)
        model[space] = model[space].filter { !$1.tags.contains(tag) }
      case 18 where random.chance(percent: 20):
        try spaces[space].clear()
        model[space] = [:]
      default:
        let found = try spaces[space].bytes(key)
        #expect(found == model[space][key]?.value, "LARDER_SEED=\(random.seed), step \(step)")
      }
      if step % 100 == 0 {
        for (namespace, expected) in zip(spaces, model) {
          let keys = try namespace.keysByPages(of: 7).compactMap(\.string)
          try #require(keys == expected.keys.sorted(), "LARDER_SEED=\(random.seed), step \(step)")
        }
        try #require(store.verify().isSound, "LARDER_SEED=\(random.seed), step \(step)")
      }
    }
    while try store.state.tombstones > 0 { try spaces[0].set([], for: "end") }
    #expect(try spaces[1].count() == model[1].count, "LARDER_SEED=\(random.seed)")
  }
}
