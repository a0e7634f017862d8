import TestSupport
import Testing

@testable import Larder

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
    default:
      try articles.set("text", for: "2")
      try articles.set("text", for: "3")
    }
    #expect(try images.keysByPages(of: 10) == [Key("alone")])
    #expect(try images.removals[.orphaned] == 3)
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
    let facts = try images.info()
    #expect(facts == nil)
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
    try articles.set("text", for: "1")
    try articles.set("text", for: "2")
    for index in 0..<2 { try images.set([1], for: "1/\(index)", owned(by: "1")) }
    #expect(failure { try images.set([1], for: "1/2", owned(by: "1")) } == .full)
    try articles.pin("1")
    #expect(failure { try images.set([1], for: "2/0", owned(by: "2")) } == .full)
    #expect(try images.count() == 2 && articles.count() == 2)
    try articles.unpin("1")
    try images.set([1], for: "2/0", owned(by: "2"))
    #expect(try images.count() == 1 && articles.count() == 1)
  }

  @Test func `what belonged to cleared entries leaves when they are reclaimed`() throws {
    for article in 0..<100 {
      try articles.set("text", for: "\(article)")
      try images.set([1], for: "\(article)", owned(by: "\(article)"))
    }
    try articles.clear()
    try articles.set("text", for: "5")
    try store.purge()
    #expect(try images.count() == 0)
    #expect(try articles.count() == 1)
  }
}
