import TestSupport
import Testing

@testable import Larder

@Suite struct NamespaceLifecycleTests: StoreSuite {
  let fixture = StoreFixture { $0.hooks.chunksAbove = 3000 }

  @Test func `names are 1 to 100 bytes without white space, at signs and controls`() throws {
    let possible = [
      "a", "lego.colors", "a/b", "z\u{fc}rich", "-", String(repeating: "n", count: 100),
    ]
    for name in possible { try store.namespace(name).set("v", for: "k") }
    let impossible = [
      "", " ", "a b", "a\u{0}", "a\n", "a@b", "\u{a0}", "\u{7f}",
      String(repeating: "n", count: 101), String(repeating: "n", count: 1000),
    ]
    for name in impossible {
      #expect(failure { try store.namespace(name).set("v", for: "k") } == .invalidArgument)
      #expect(failure { try store.declare(Rules(), for: name) } == .invalidArgument)
      #expect(failure { try store.rename("a", to: name) } == .invalidArgument)
      #expect(try store.namespace(name).text("k") == nil && store.namespace(name).count() == 0)
    }
    #expect(try store.namespaces().map(\.name).sorted() == possible.sorted())
  }

  @Test func `what is unheld and has no counts is forgotten, and comes back as it was`() throws {
    let held = store.namespace("held")
    try held.set("v", for: "k")
    store.namespace("counting").handle.count(.served)
    try store.namespace("declared").set("v", for: "k")
    store.namespace("ruled").handle.noteDeclared(Rules(expires: .after(.hours(1))), of: 0)
    for number in 0..<1000 { #expect(try store.namespace("name\(number)").text("k") == nil) }
    let names = Set(store.engine.allHandles.map(\.name))
    #expect(names.count <= 128)
    #expect(names.isSuperset(of: ["held", "counting", "ruled"]))
    #expect(store.namespace("held").handle === held.handle)
    #expect(try store.namespace("declared").text("k") == "v")
  }

  @Test func `an empty namespace is listed, and looking makes none`() throws {
    #expect(try store.namespaces().isEmpty)
    _ = try store.namespace("looked").text("k")
    _ = try store.namespace("looked").page()
    try store.namespace("looked").remove("k")
    try store.namespace("looked").clear()
    try store.namespace("looked").purge()
    #expect(try store.namespaces().isEmpty)
    try store.declare(Rules(expires: .after(.hours(1))), for: "empty")
    let facts = try #require(try store.namespaces().first)
    #expect(facts.name == "empty" && facts.entries == 0 && facts.bytes == 0)
    #expect(facts.created == clock.now && facts.rules.expires == .after(.hours(1)))
    try store.namespace("empty").set("v", for: "k")
    try store.namespace("empty").remove("k")
    #expect(try store.namespaces().map(\.entries) == [0])
  }

  @Test func `rules last, declared and overridden apart`() throws {
    try withTemporaryDirectory { path in
      let rules = Rules(expires: .after(.minutes(5)), stale: .seconds(3), largestValue: 12_345)
      var store = try Store(at: path + "/s")
      try store.declare(rules, for: "a")
      try store.declare(Rules(expires: .at(Timestamp(milliseconds: 5))), for: "b")
      try store.override(Rules.Overrides(largestValue: 5), for: "a")
      try store.declare(Rules(stale: .seconds(9)), for: "a")
      try store.declare(rules, for: "a")
      try store.close()
      store = try Store(at: path + "/s")
      let facts = try store.namespaces()
      #expect(facts[0].declared == rules)
      #expect(facts[0].rules.largestValue == 5 && facts[0].rules.expires == rules.expires)
      #expect(facts[1].declared.expires == .at(Timestamp(milliseconds: 5)))
      #expect(failure { try store.namespace("a").set([1, 2, 3, 4, 5, 6], for: "k") } == .overLimit)
      try store.override(Rules.Overrides(), for: "a")
      try store.namespace("a").set([1, 2, 3, 4, 5, 6], for: "k")
      #expect(failure { try store.override(Rules.Overrides(), for: "none") } == .noSuchNamespace)
      try store.close()
    }
  }

  @Test func `rules that did not change write nothing, whatever their precision`() throws {
    let rules = Rules(expires: .after(.microseconds(1_500)), stale: .nanoseconds(1))
    let cache = store.cache(of: Int.self, in: "a", rules: rules)
    try cache.set(1, for: "k")
    let generation = try store.state.generation
    for number in 0..<5 { try cache.set(number, for: "k") }
    try store.declare(rules, for: "a")
    #expect(try store.state.generation == generation)
  }

  @Test func `a change of one namespace does not parse the rules of the others again`() throws {
    func listed(_ name: String) throws -> KnownNamespace? {
      try store.write { batch in try batch.session.namespaces().first { $0.name == name } }
    }
    for name in ["a", "b"] { try store.namespace(name).set("x", for: 1) }
    let (a, b) = (try #require(try listed("a")), try #require(try listed("b")))
    try store.namespace("b").clear()
    let (sameA, newB) = (try listed("a"), try listed("b"))
    #expect(sameA === a && newB !== b && newB?.id != b.id)
  }

  @Test func `a clear empties at once, keeps rules and counts, and reclaims in steps`() throws {
    let attributes = EntryAttributes.with(expires: .after(.hours(1)), tags: ["t"])
    for number in 0..<1500 {
      let value = [UInt8](repeating: 1, count: number % 100 == 0 ? 9000 : 10)
      try notes.set(value, for: number, attributes)
    }
    try store.declare(Rules(largestValue: 10_000), for: "notes")
    let bytes = try store.statistics().bytes
    #expect(try notes.clear() == RemovalResult(entries: 1500, bytes: bytes))
    #expect(try notes.count() == 0 && store.statistics().bytes == 0 && notes.page().items.isEmpty)
    let left = try store.verify().garbage
    #expect(left > 1000)
    try notes.set("new", for: 1)
    #expect(try store.verify().garbage == left - GarbageCollector.perWrite)
    // Simulates a data file whose free pages suffice for only two more removals.
    try store.engine.commit { batch in
      batch.session.budget.disk = BatchPages(
        limit: 1 << 30, pageSize: store.engine.pageSize,
        available: BatchPages.forCleanup + BatchPages.kept + 2 * BatchPages.perRemoval, used: 1000)
    }
    #expect(try store.verify().garbage == left - GarbageCollector.perWrite - 2)
    #expect(try store.purge() == RemovalResult() && store.verify().garbage == 0)
    #expect(try notes.text(1) == "new" && notes.removals[.cleared] == 1500)
    #expect(try store.namespaces()[0].rules.largestValue == 10_000)
    #expect(try notes.clear().entries == 1 && notes.clear() == RemovalResult())
  }
}
