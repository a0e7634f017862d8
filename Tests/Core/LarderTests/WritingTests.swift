import TestSupport
import Testing

@testable import Larder

@Suite struct WritingTests: StoreSuite {
  let fixture = StoreFixture()

  @Test func `a value above the limit is refused with both sizes, one at it is not`() throws {
    try store.declare(Rules(largestValue: 1000), for: "notes")
    try notes.set([UInt8](repeating: 1, count: 1000), for: "k")
    let error = thrown { try notes.set([UInt8](repeating: 1, count: 1001), for: "k") }
    #expect(error?.code == .overLimit)
    #expect(error?.message.contains("1001") == true && error?.message.contains("1000") == true)
    #expect(try notes.bytes("k")?.count == 1000)
    for size in [0, 1 << 30 + 1] {
      let rules = Rules(largestValue: size)
      #expect(failure { try store.declare(rules, for: "notes") } == .invalidArgument, "\(size)")
    }
    try store.declare(Rules(largestValue: 1 << 30), for: "notes")
    #expect(
      failure { try store.override(.init(largestValue: 0), for: "notes") } == .invalidArgument)
  }

  @Test func `the largest value is 64 MB unless a rule says otherwise`() throws {
    let value = [UInt8](repeating: 7, count: 64_000_001)
    #expect(failure { try notes.set(value, for: "k") } == .overLimit)
    #expect(try store.namespaces().isEmpty)
    try notes.set(Array(value.dropLast()), for: "k")
    #expect(try notes.withValue(for: "k") { bytes in bytes.count } == 64_000_000)
    try store.declare(Rules(largestValue: 100_000_000), for: "notes")
    try notes.set(value, for: "k")
    #expect(try notes.count() == 1)
  }

  @Test(
    .enabled(
      if: TestSettings.number("LARDER_TEST_LARGE", default: 0) > 0, "takes 3 GB of memory and disk")
  )
  func `a rule lets a value have 1 GiB`() throws {
    try store.declare(Rules(largestValue: 1 << 30), for: "notes")
    try notes.set([UInt8](repeating: 7, count: 1 << 30), for: "k")
    #expect(try notes.withValue(for: "k") { bytes in bytes[bytes.count - 1] } == 7)
    let value = [UInt8](repeating: 7, count: 1 << 30 + 1)
    #expect(failure { try notes.set(value, for: "k") } == .overLimit)
    #expect(try notes.touch("k", expires: .after(.hours(1))))
    #expect(try notes.remove("k"))
  }

  @Test func `a store for reading only refuses every change`() throws {
    try withStoreOnDisk(Store.Options(clock: clock)) { writable, written in
      try written.set("a", for: "k", expires: .after(.seconds(1)))
      let store = try Store(at: writable.path, options: Store.Options(readOnly: true, clock: clock))
      let notes = store.namespace("notes")
      #expect(store.isReadOnly && !writable.isReadOnly)
      #expect(try notes.text("k") == "a")
      let changes: [() throws -> Void] = [
        { try notes.set("b", for: "k") }, { try notes.setIfAbsent("b", for: "n") },
        { try notes.remove("k") }, { try notes.touch("k") },
        { try notes.touch("k", expires: .never) },
        { try notes.clear() }, { try notes.purge() }, { try store.purge() }, { try store.clear() },
        { try store.rename("notes", to: "other") }, { try store.declare(Rules(), for: "notes") },
        { try store.override(Rules.Overrides(), for: "notes") }, { try store.write { _ in } },
        { try store.cache(of: Int.self, in: "notes").set(1, for: "k") },
        { _ = try store.cache(TextCodec(), in: "notes").pop("k") },
        { try notes.increment("n") }, { try notes.pin("k") }, { try notes.remove(prefix: "k") },
        { try store.invalidate(tag: "t") },
      ]
      for change in changes { #expect(failure(change) == .readOnly) }
      clock.advance(by: .seconds(1))
      #expect(try notes.text("k") == nil)
      #expect(try notes.count() == 1)
    }
  }

  @Test(arguments: [false, true])
  func `a write that is refused for what it says has changed nothing`(isTransformed: Bool) throws {
    var options = Store.Options(clock: ManualClock())
    if isTransformed { options.transforms = [Veil()] }
    let store = try Store.temporary(options: options)
    let (notes, owners) = (store.namespace("notes"), store.namespace("owners"))
    let cache = store.cache(of: Int.self, in: "cache", rules: Rules(expires: .after(.hours(1))))
    let tagged = EntryAttributes.with(tags: ["good", ""])
    var imported = tagged
    imported.awaitsOwners = true
    imported.owners = [Owner(Key("o"), in: "owners")]
    var nameless = imported
    nameless.tags = []
    nameless.owners.append(Owner(Key("o"), in: ""))
    let keyless = with(nameless) { $0.owners[1] = Owner(Key([]), in: "owners") }
    let refused = [
      tagged, imported, nameless, keyless, .with(tags: [String(repeating: "t", count: 201)]),
      .with(tags: ["a\u{0}b"]),
    ]
    try store.write { batch in
      let before = batch.session.mutations
      for attributes in refused {
        #expect(failure { try batch.set([1], for: "k", in: notes, attributes) } == .invalidArgument)
        #expect(failure { try batch.set(1, for: "k", in: cache, attributes) } == .invalidArgument)
      }
      #expect(failure { try batch.set(1, for: "", in: cache) } == .invalidArgument)
      let rules = Rules(limits: Limits(entries: -1))
      #expect(failure { try batch.declare(rules, for: owners) } == .invalidArgument)
      #expect(batch.session.mutations == before)
    }
    #expect(failure { try store.invalidate(tag: "a\u{0}b") } == .invalidArgument)
    #expect(try store.namespaces().isEmpty)
    let longest = EntryAttributes.with(tags: [String(repeating: "t", count: 200)])
    try notes.set([1], for: String(repeating: "k", count: 1000), longest)
    #expect(try store.verify().faults == [])
  }

  @Test(arguments: [1, 5_000, 30_000], [nil, 1_000])
  func `what is beside a value changes without rewriting it`(size: Int, chunksAbove: Int?) throws {
    try withStore(chunksAbove: chunksAbove) { store, clock in
      let (articles, images) = (store.namespace("articles"), store.namespace("images"))
      for key in ["1", "2", "3"] { try articles.set("text", for: key) }
      let owners = ["1", "2", "3"].map { Owner(Key($0), in: "articles") }
      let key = String(repeating: "long ", count: 300)
      let bytes = [UInt8](repeating: 7, count: size)
      let attributes = EntryAttributes.with(
        expires: .after(.hours(1)), stale: .hours(1), tags: ["a"], owners: [owners[0]],
        entityTag: [1, 2])
      try images.set(bytes, for: key, attributes)
      let before = try images.entry(for: key)!
      clock.advance(by: .minutes(10))
      /// Expects that only the metadata and the owners have changed.
      func expectSame() throws {
        var after = try images.entry(for: key)!
        (after.metadata, after.owners) = (nil, before.owners)
        (after.storedSize, after.lastUsed) = (before.storedSize, before.lastUsed)
        #expect(after == before)
        #expect(try images.bytes(key) == bytes)
        #expect(try store.verify().faults == [])
      }
      for metadata: [UInt8]? in [[9], nil, [UInt8](repeating: 1, count: 3_000), []] {
        #expect(try store.write { try $0.setMetadata(metadata, of: key, in: images) })
        #expect(try images.entry(for: key)!.metadata == metadata)
        try expectSame()
      }
      for wanted in [[0, 1], [2], [1, 2, 0], []].map({ $0.map { owners[$0] } }) {
        #expect(try store.write { try $0.setOwners(wanted, of: key, in: images) })
        #expect(try images.entry(for: key)!.owners == wanted)
        try expectSame()
      }
      for article in ["1", "2"] { try articles.remove(article) }
      #expect(try images.contains(key), "it is nobody's")
      #expect(try !store.write { try $0.setOwners([], of: "absent", in: images) })
      clock.advance(by: .hours(1))
      #expect(try store.write { try $0.setMetadata([3], of: key, in: images) }, "it is stale")
      let stale = try images.entry(for: key)!
      #expect(stale.state == .stale && stale.metadata == [3] && stale.version == before.version)
      clock.advance(by: .hours(1))
      #expect(try !store.write { try $0.setMetadata([4], of: key, in: images) }, "it has expired")
      #expect(try !store.write { try $0.setMetadata([4], of: "absent", in: images) })
    }
  }

  @Test func `a load that is under way still takes the entry's place`() async throws {
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    let pages = store.cache(TextCodec(), in: "pages")
    try await pages.set("old", for: "a")
    let loaded = try await pages.result(
      for: "a", options: LoadOptions(policy: .revalidate, waitsForCommit: true)
    ) { _ in
      try store.write { _ = try $0.setMetadata([1], of: "a", in: pages.namespace) }
      return .value("new")
    }
    #expect(loaded?.value == "new" && loaded?.error == nil)
    #expect(try pages.value(for: "a") == "new")
    try store.close()
  }
}
