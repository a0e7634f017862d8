import LMDB
import Synchronization
import TestSupport
import Testing

@testable import Larder

@Suite struct OwnerChainTests: StoreSuite {
  let fixture = StoreFixture()

  private func owned(by key: String) -> EntryAttributes {
    EntryAttributes.with(owners: [Owner(Key(key), in: "notes")])
  }

  /// Makes the entries 0 to `count`. Each entry after entry 0 is owned by the previous entry.
  private func makeChain(_ count: Int) throws {
    try notes.set("0", for: "0")
    try store.write { batch in
      for index in 1...count {
        try batch.set([1], for: "\(index)", in: notes, owned(by: "\(index - 1)"))
      }
    }
  }

  private func makeStar(_ count: Int) throws {
    try notes.set("0", for: "0")
    try notes.fill((1...count).map { "\($0)" }, owned(by: "0"))
  }

  @Test(arguments: ["remove", "expire", "batch"])
  func `a chain of 20,000 owners goes in bounded commits and on a small stack`(how: String) throws {
    try makeChain(20_000)
    try notes.set("stays", for: "other")
    let before = store.engine.environment.lastTransaction
    switch how {
    case "remove": #expect(try notes.remove("0"))
    case "expire":
      try notes.touch("0", expires: .after(.seconds(1)))
      clock.advance(by: .seconds(2))
      #expect(try store.purge().entries == 1)
      // A purge leaves the remaining removals to later writes, such as this write.
      try notes.set("x", for: "other")
    default: #expect(try store.write { batch in try batch.remove("0", from: notes) })
    }
    #expect(store.engine.environment.lastTransaction >= before + 20, "1,000 at a time")
    #expect(try notes.keysByPages(of: 10) == [Key("other")])
    #expect(try notes.removals[.orphaned] == 20_000 && store.state.orphans == 0)
  }

  @Test func `what a killed process has left is removed by later writes of any kind`() throws {
    try makeStar(3_500)
    // Runs only the first transaction, to simulate a process that is killed after the commit of this transaction.
    try store.engine.attempt(.withoutCleanup) { batch in _ = try batch.remove("0", from: notes) }
    #expect(try store.state.orphans == 1 && notes.count() == 2_500 && store.verify().faults == [])
    try store.engine.attempt(.withoutCleanup) { _ in }
    #expect(try notes.count() == 1_500 && store.verify().faults == [])
    try store.namespace("others").set("x", for: "y")
    #expect(try notes.count() == 0)
  }

  @Test func `one commit removes the dependents of many owners`() throws {
    let keys = (0..<1_500).map { "\($0)" }
    try notes.fill(keys)
    for key in keys { try notes.set([1], for: "of \(key)", owned(by: key)) }
    try store.engine.attempt(.withoutCleanup) { batch in
      for key in keys { try batch.remove(key, from: notes) }
    }
    #expect(try store.state.orphans == 500)
    try store.engine.attempt(.withoutCleanup) { _ in }
    #expect(try notes.count() == 0)
  }

  @Test func `an owner whose dependents fill a batch exactly leaves no record`() throws {
    try makeStar(1_000)
    try store.engine.attempt(.withoutCleanup) { batch in _ = try batch.remove("0", from: notes) }
    #expect(try notes.count() == 0 && store.state.orphans == 0)
  }

  @Test func `an owner that is written again before the rest was removed keeps the rest`() throws {
    try makeStar(2_500)
    try store.engine.attempt(.withoutCleanup) { batch in
      _ = try batch.remove("0", from: notes)
      try batch.set("again", for: "0", in: notes)
    }
    try notes.set("x", for: "x")
    #expect(try notes.count() == 1_502 && store.state.orphans == 0)
  }

  @Test func `an invalidation returns after all dependents have gone`() throws {
    try makeStar(2_500)
    try notes.set([0], for: "0", .with(tags: ["t"]))
    try notes.set([1], for: "1", .with(tags: ["t"], owners: owned(by: "0").owners))
    #expect(try store.invalidate(tag: "t").entries == 2)
    #expect(try notes.count() == 0 && store.state.orphans == 0)
  }

  @Test func `entries that own each other in a ring all go`() throws {
    try makeChain(50)
    let owners = [Owner(Key("50"), in: "notes")]
    #expect(try store.write { try $0.setOwners(owners, of: "0", in: notes) })
    #expect(try notes.remove("25") && notes.count() == 0)
  }

  @Test(arguments: [Eviction.fifo, .adaptive], [nil, 1, 2])
  func `an overwrite evicts no owner, however far up`(eviction: Eviction, expires: Int?) throws {
    try store.declare(Rules(limits: Limits(bytes: 4), eviction: eviction), for: "notes")
    for index in 0..<4 {
      var attributes = index == 0 ? EntryAttributes() : owned(by: "\(index - 1)")
      // An expired owner at any place of the chain still counts as an owner, so the overwrite must not evict an expired owner.
      if index < expires ?? 0 { attributes.expires = .after(.seconds(1)) }
      try notes.set([1], for: "\(index)", attributes)
    }
    clock.advance(by: .seconds(2))
    #expect(failure { try notes.set([1, 2], for: "3", owned(by: "2")) } == .full)
    #expect(try notes.info()?.entries == 4 && notes.info()?.bytes == 4)
    #expect(try store.verify().faults == [])
    try store.declare(Rules(limits: Limits(bytes: 5), eviction: eviction), for: "notes")
    try notes.set([1], for: "other")
    try notes.set([1, 2], for: "3", owned(by: "2"))
    #expect(try notes.info()?.entries == 4 && notes.text("other") == nil)
  }

  /// Makes a cleared namespace, and an entry of `notes` whose owner is one of the cleared entries.
  private func clearOwners(_ life: Expiration) throws {
    for name in ["cleared", "notes"] { try store.declare(Rules(eviction: .refuse), for: name) }
    let cleared = store.namespace("cleared")
    for index in 0..<300 { try cleared.set([1], for: "a \(index)") }
    try cleared.set([1], for: "z", expires: life)
    try notes.set([1], for: "0", .with(owners: [Owner(Key("z"), in: "cleared")]))
    try notes.set([1], for: "1", owned(by: "0"))
    try cleared.clear()
  }

  @Test func `an overwrite keeps its owners when the sweep meets one that was cleared`() throws {
    try clearOwners(.after(.seconds(1)))
    try store.namespace("others").set([1, 2, 3], for: "other")
    try store.declare(StoreLimits(bytes: 6))
    clock.advance(by: .seconds(2))
    try notes.set([1, 2, 3, 4], for: "1", owned(by: "0"))
    #expect(try store.verify().faults == [])
    #expect(try notes.bytes("1") == [1, 2, 3, 4] && notes.bytes("0") == [1])
    #expect(try store.namespace("others").count() == 0)
    try store.purge()
    #expect(try notes.count() == 0, "the first owner is gone")
  }

  @Test func `an overwrite keeps its owners when cleared entries are reclaimed for it`() throws {
    try store.declare(StoreLimits(disk: 4_000_000))
    try clearOwners(.never)
    let others = store.namespace("others")
    let large = [UInt8](repeating: 1, count: 100_000)
    // These values fill the file before all cleared entries are reclaimed, so the next write must reclaim more entries.
    for index in 0..<8 { try others.set(large + large + large + large, for: index) }
    try notes.set(large, for: "1", owned(by: "0"))
    #expect(try store.verify().faults == [])
    try store.purge()
    #expect(try notes.count() == 0)
  }
}

struct OwnerTests: StoreSuite {
  let fixture = StoreFixture()
  private var articles: Store.Namespace { store.namespace("articles") }
  private var images: Store.Namespace { store.namespace("images") }

  private func owned(by key: String) -> EntryAttributes {
    .with(owners: [Owner(Key(key), in: "articles")])
  }

  @Test(arguments: ["removed", "expired", "evicted", "invalidated"])
  func `what belongs to an entry leaves with it`(how: String) throws {
    try store.declare(Rules(limits: Limits(entries: 2), eviction: .fifo), for: "articles")
    try articles.set([1], for: "1", .with(expires: .after(.seconds(10)), tags: ["user"]))
    try images.fill(0..<3, with: [1, 2, 3], owned(by: "1"))
    try images.set([4], for: "alone")
    #expect(try images.entry(for: 0)!.owners == [Owner(Key("1"), in: "articles")])
    switch how {
    case "removed": #expect(try articles.remove("1"))
    case "expired":
      clock.advance(by: .seconds(10))
      #expect(try store.purge().entries == 1)
    case "invalidated": #expect(try store.invalidate(tag: "user").entries == 1)
    default: for key in ["2", "3"] { try articles.set("text", for: key) }
    }
    #expect(try images.keysByPages(of: 10) == [Key("alone")] && images.removals[.orphaned] == 3)
  }

  @Test func `an image of two articles leaves with the last`() throws {
    for key in ["1", "2"] { try articles.set("text", for: key) }
    let owners = ["1", "2"].map { Owner(Key($0), in: "articles") }
    try images.set([1], for: "shared", .with(owners: owners))
    try articles.remove("1")
    #expect(try images.entry(for: "shared")!.owners == [owners[1]])
    try store.rename("articles", to: "pages")
    #expect(try images.entry(for: "shared")!.owners == [Owner(Key("2"), in: "pages")])
    try store.namespace("pages").remove("2")
    #expect(try !images.contains("shared"))
  }

  @Test func `owners must be there, and nothing is changed where one is not`() throws {
    let absent = owned(by: "1")
    #expect(failure { try images.set([1], for: "a", absent) } == .noSuchOwner)
    #expect(try images.info() == nil)
    try images.set([1], for: "x")
    #expect(
      failure { try store.write { _ = try $0.setOwners(absent.owners, of: "x", in: images) } }
        == .noSuchOwner)
    #expect(try images.entry(for: "x")!.owners == [])
  }

  @Test func `an image is never evicted alone: its article leaves with all that is its`() throws {
    try store.declare(Rules(limits: Limits(entries: 6), eviction: .fifo), for: "images")
    for article in 0..<4 {
      try articles.set("text", for: "\(article)")
      for index in 0..<3 {
        try images.set([1], for: "\(article)/\(index)", owned(by: "\(article)"))
      }
    }
    #expect(try articles.keysByPages(of: 9).map(\.description) == ["2", "3"])
    #expect(try images.count() == 6)
  }

  @Test func `an image does not push out its own article, nor one that is pinned`() throws {
    try store.declare(Rules(limits: Limits(entries: 2)), for: "images")
    for key in ["1", "2"] { try articles.set("text", for: key) }
    for index in 0..<2 { try images.set([1], for: "1/\(index)", owned(by: "1")) }
    #expect(failure { try images.set([1], for: "1/2", owned(by: "1")) } == .full)
    try articles.pin("1")
    #expect(failure { try images.set([1], for: "2/0", owned(by: "2")) } == .full)
    #expect(try images.count() == 2 && articles.count() == 2)
    try articles.unpin("1")
    try images.set([1], for: "2/0", owned(by: "2"))
    #expect(try images.count() == 1 && articles.count() == 1)
  }

  @Test(arguments: ["pinned", "refused", "damaged"])
  func `an article stays with an image that may not leave`(image: String) throws {
    try store.declare(Rules(limits: Limits(entries: 2), eviction: .fifo), for: "articles")
    try store.declare(Rules(eviction: image == "refused" ? .refuse : .fifo), for: "images")
    try articles.set("text", for: "1")
    try images.set([1], for: "p", owned(by: "1"))
    try images.touch("p", expires: .after(.hours(1)))
    if image == "pinned" { try images.pin("p") }
    let record = MetadataKey.namespace("images")
    let sound = try store.write { try $0.session.transaction.copy(of: record, in: .main) }
    if image == "damaged" {
      try store.plant([1, 2, 3], for: record)
      store.engine.handle(for: "images").known.withLock { $0 = nil }
    }
    for key in ["2", "3"] { try articles.set("text", for: key) }
    if image == "damaged" { try store.plant(#require(sound), for: record) }
    #expect(try images.contains("p"))
    #expect(try articles.keysByPages(of: 9).map(\.description) == ["1", "3"])
    clock.advance(by: .hours(1))
    try articles.set("text", for: "4")
    #expect(try articles.keysByPages(of: 9).map(\.description) == ["3", "4"])
  }

  @Test func `the site of an article leaves with the images of the article`() throws {
    try store.declare(Rules(limits: Limits(entries: 2)), for: "images")
    let sites = store.namespace("sites")
    for key in ["1", "2"] {
      try sites.set("text", for: key)
      try articles.set([1], for: key, .with(owners: [Owner(Key(key), in: "sites")]))
    }
    for index in 0..<2 { try images.set([1], for: "1/\(index)", owned(by: "1")) }
    try images.set([1], for: "2/0", owned(by: "2"))
    #expect(try images.count() == 1 && articles.count() == 1 && sites.count() == 1)
  }

  @Test func `the removal of a prefix counts what leaves with its owners`() throws {
    try articles.set("text", for: "1")
    for index in 0..<3 { try articles.set([1], for: "1/\(index)", owned(by: "1")) }
    #expect(try articles.remove(prefix: "1") == RemovalResult(entries: 4, bytes: 7))
    try articles.set("text", for: "2")
    try articles.tamper("2") { $0[$0.count - 1] ^= 1 }
    #expect(try articles.remove(prefix: "2").entries == 0 && articles.count() == 0)
  }

  @Test func `what belonged to cleared entries leaves when they are reclaimed`() throws {
    for article in 0..<100 {
      try articles.set("text", for: "\(article)")
      try images.set([1], for: "\(article)", owned(by: "\(article)"))
    }
    try articles.clear()
    try articles.set("text", for: "5")
    try store.purge()
    #expect(try [images.count(), articles.count()] == [0, 1])
  }
}
