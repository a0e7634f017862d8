import TestSupport
import Testing

@testable import Larder

/// A namespace with guaranteed bytes loses these bytes only to its own writes, removals and limits.
@Suite struct GuaranteeTests: StoreSuite {
  let fixture = StoreFixture()

  private func flood(_ store: Store, into name: String, entries: Int, of size: Int) throws {
    let space = store.namespace(name)
    for index in 0..<entries {
      try space.set([UInt8](repeating: 1, count: size), for: "\(index)")
    }
  }

  @Test(arguments: [StoreLimits(bytes: 2_000_000), StoreLimits(disk: 4_000_000)])
  func `a flood in one namespace leaves the guaranteed bytes of others alone`(limits: StoreLimits)
    throws
  {
    try store.declare(limits)
    try store.declare(Rules(limits: Limits(guaranteed: 100_000)), for: "hot")
    let hot = store.namespace("hot")
    try flood(store, into: "hot", entries: 20, of: 200)
    try flood(store, into: "cold", entries: 50, of: 1000)
    try flood(store, into: "flood", entries: 3000, of: 2000)
    #expect(try hot.count() == 20, "below its guarantee nothing leaves")
    #expect(try store.namespace("cold").count() < 50, "without a guarantee some does")
    try flood(store, into: "hot", entries: 300, of: 1000)
    try flood(store, into: "other", entries: 3000, of: 2000)
    let bytes = try #require(try hot.info()).bytes
    #expect((100_000..<300_000).contains(bytes), "above it, some leaves")
  }

  @Test func `a namespace loses guaranteed bytes to its own writes and limits`() throws {
    try store.declare(StoreLimits(bytes: 100_000))
    try store.declare(Rules(limits: Limits(guaranteed: 100_000)), for: "all")
    try flood(store, into: "all", entries: 500, of: 1000)
    let all = store.namespace("all")
    #expect(try all.count() == 100)
    #expect(failure { try store.namespace("other").set("x", for: "k") } == .full)
    try store.declare(Rules(limits: Limits(bytes: 10_000, guaranteed: 10_000)), for: "all")
    #expect(try all.count() == 10)
    try store.namespace("other").set("x", for: "k")
  }

  @Test func `guarantees that do not fit are refused, and change nothing`() throws {
    try store.declare(StoreLimits(bytes: 1000))
    func declare(_ guaranteed: Int, for name: String) -> LarderError.Code? {
      failure { try store.declare(Rules(limits: Limits(guaranteed: guaranteed)), for: name) }
    }
    #expect(declare(600, for: "a") == nil)
    #expect(declare(500, for: "b") == .invalidArgument)
    #expect(declare(-1, for: "b") == .invalidArgument)
    #expect(declare(.max, for: "b") == .invalidArgument)
    #expect(declare(400, for: "b") == nil)
    #expect(declare(500, for: "a") == nil, "its own new guarantee counts, not its old one")
    #expect(declare(500, for: "b") == nil)
    #expect(failure { try store.declare(StoreLimits(bytes: 999)) } == .invalidArgument)
    #expect(failure { try store.declare(StoreLimits(disk: 4_000_000)) } == nil)
    #expect(
      failure {
        try store.declare(Rules(limits: Limits(bytes: 10, guaranteed: 11)), for: "a")
      } == .invalidArgument)
    try store.override(Rules.Overrides(limits: Limits(guaranteed: Limits.unlimited)), for: "a")
    #expect(try store.namespace("a").info()?.rules.limits.guaranteed == nil)
    #expect(try store.namespace("a").info()?.declared.limits.guaranteed == 500)
  }

  @Test func `a namespace that is full does not evict what takes guaranteed bytes with it`() throws
  {
    try store.declare(Rules(limits: Limits(guaranteed: 300)), for: "images")
    try store.declare(Rules(limits: Limits(entries: 1), eviction: .fifo), for: "articles")
    let (articles, images) = (store.namespace("articles"), store.namespace("images"))
    let bytes = [UInt8](repeating: 1, count: 100)
    try articles.set(bytes, for: "1")
    try images.fill(0..<3, with: bytes, .with(owners: [Owner(Key("1"), in: "articles")]))
    #expect(failure { try articles.set("x", for: "2") } == .full)
    #expect(
      failure { try store.declare(Rules(limits: Limits(entries: 0)), for: "articles") } == .full)
    #expect(try images.count() == 3)
    // A guarantee protects only from evictions that other namespaces cause, not from its own removals, expiries and writes.
    try store.declare(Rules(limits: Limits(entries: 2, guaranteed: 200)), for: "images")
    #expect(try articles.count() == 0 && images.count() == 0)
  }
}
