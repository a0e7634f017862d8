import TestSupport
import Testing

@testable import Larder

/// Compares the eviction policy with a simulation of the same rules in memory, and checks properties that must always hold.
@Suite struct EvictionPolicyTests: StoreSuite {
  let fixture = StoreFixture()

  enum Load: CaseIterable {
    case even, skewed, scanning, looping, shifting

    func key(_ number: Int, of keys: Int, _ random: inout SeededRNG) -> Int {
      func skewed() -> Int {
        let unit = Double.random(in: 0..<1, using: &random)
        return Int(Double(keys) * unit * unit * unit)
      }
      switch self {
      case .even: return Int.random(in: 0..<keys, using: &random)
      case .skewed: return skewed()
      case .scanning: return number % 3 == 0 ? number / 3 % keys : skewed()
      case .looping: return number % (keys / 3)
      case .shifting: return (skewed() + number / 1000) % keys
      }
    }
  }

  @Test(arguments: Load.allCases)
  func `it decides as the lists do, request by request`(_ load: Load) throws {
    try withStore { other, _ in
      var random = SeededRNG()
      for capacity in [1, 2, 7, 50, 300] {
        var cache = SimulatedNamespace(capacity: capacity, table: store.engine.access)
        var lists = ListedPolicy(capacity: capacity, table: other.engine.access)
        let keys = capacity * 6 + 3
        for number in 0..<max(4000, 20 * capacity) {
          let key = load.key(number, of: keys, &random)
          let hit = try cache.access(key)
          try #require(
            hit == lists.access(key),
            "LARDER_SEED=\(random.seed), capacity \(capacity), request \(number)")
          try #require(cache.entries == lists.count && cache.entries <= capacity)
          try #require(cache.holds(key), "the newest entry left")
        }
        for key in 0..<keys {
          store.engine.access.forget(SimulatedNamespace.hash(key))
          other.engine.access.forget(SimulatedNamespace.hash(key))
          _ = store.engine.access.takeGhost(of: SimulatedNamespace.hash(key))
          _ = other.engine.access.takeGhost(of: SimulatedNamespace.hash(key))
        }
      }
    }
  }

  @Test func `with sizes the bytes keep to the capacity, and the window to its target`() throws {
    var random = SeededRNG()
    var cache = SimulatedNamespace(capacity: 50_000, table: store.engine.access)
    cache.countsBytes = true
    for number in 0..<20_000 {
      let key = Load.scanning.key(number, of: 2000, &random)
      cache.sizes[key] = UInt64(1 + key * 7919 % 997)
      _ = try cache.access(key)
      try #require(cache.bytes <= 50_000, "LARDER_SEED=\(random.seed), request \(number)")
      try #require(cache.holds(key))
      let (entries, bytes) = cache.recountedWindow
      try #require(cache.state.windowEntries == entries && cache.state.windowBytes == bytes)
    }
    #expect(cache.bytes > 45_000)
    let most = Double(cache.capacity) * cache.state.policy.target.share
    #expect(Double(cache.windowCost) <= most + 1000)
  }

  @Test func `room for many entries at once shrinks the window to its target`() throws {
    var cache = SimulatedNamespace(capacity: 2000, table: store.engine.access)
    for key in 0..<2000 { _ = try cache.access(key) }
    cache.capacity = 1000
    try cache.makeRoom()
    #expect(cache.entries == 1000 && cache.windowCost == 100)
  }

  @Test func `a scan does not drive out what is used`() throws {
    var cache = SimulatedNamespace(capacity: 100, table: store.engine.access)
    for _ in 0..<5 { for key in 0..<60 { _ = try cache.access(key) } }
    let hits = try (1000..<3000).count { key in
      _ = try cache.access(key)
      return try cache.access(key % 60)
    }
    #expect(hits > 1900)
  }

  @Test func `what may not leave is passed over, and nothing may mean nothing does`() throws {
    var cache = SimulatedNamespace(capacity: 10, table: store.engine.access)
    cache.stays = { $0 < 5 }
    for key in 0..<1000 { _ = try cache.access(key) }
    #expect(cache.entries == 10 && (0..<5).allSatisfy { cache.holds($0) })
    cache.stays = { _ in true }
    for key in 1000..<1010 { _ = try cache.access(key) }
    #expect(cache.entries == 20)
    cache.stays = { _ in false }
    _ = try cache.access(2000)
    #expect(cache.entries == 10 && cache.holds(2000))
  }

  @Test func `without a table it still makes room`() throws {
    try withStoreOnDisk { store, _ in
      let identity = [UInt8](repeating: 9, count: 16)
      var cache = SimulatedNamespace(
        capacity: 10, table: AccessTable(of: store.engine.environment, store: identity))
      for key in 0..<100 { _ = try cache.access(key) }
      #expect(cache.entries == 10 && cache.holds(99))
    }
  }
}

/// A namespace with guaranteed bytes loses these bytes only to its own writes, removals and limits.
@Suite struct GuaranteeTests: StoreSuite {
  let fixture = StoreFixture()

  private func flood(_ store: Store, into name: String, entries: Int, of size: Int) throws {
    let space = store.namespace(name)
    for index in 0..<entries { try space.set([UInt8](repeating: 1, count: size), for: "\(index)") }
  }

  @Test(arguments: [StoreLimits(bytes: 2_000_000), StoreLimits(disk: 4_000_000)])
  func `a flood in a namespace costs no guaranteed bytes of others`(limits: StoreLimits) throws {
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

  @Test func `writes to others change no clock of a namespace at its guarantee`() throws {
    try store.declare(StoreLimits(bytes: 10_000))
    try store.declare(Rules(limits: Limits(guaranteed: 5_000)), for: "hot")
    for name in ["hot", "cold"] { try flood(store, into: name, entries: 50, of: 100) }
    let hot = store.namespace("hot")
    func clocks() throws -> [UInt32] {
      try (0..<50).map { try store.engine.access.stats(of: hot.place(of: "\($0)")).clock }
    }
    // The commit of the write buffer gives each entry its first clock.
    try store.sync()
    for key in 0..<50 { _ = try hot.bytes("\(key)") }
    let before = try clocks()
    try flood(store, into: "other", entries: 200, of: 100)
    #expect(try clocks() == before && before.contains(1) && hot.count() == 50)
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
    let refused = [500, -1, .max].map { declare($0, for: "b") }
    #expect(refused == [.invalidArgument, .invalidArgument, .invalidArgument])
    #expect(declare(400, for: "b") == nil)
    #expect(declare(500, for: "a") == nil, "its own new guarantee counts, not its old one")
    #expect(declare(500, for: "b") == nil)
    #expect(failure { try store.declare(StoreLimits(bytes: 999)) } == .invalidArgument)
    #expect(failure { try store.declare(StoreLimits(disk: 4_000_000)) } == nil)
    let rules = Rules(limits: Limits(bytes: 10, guaranteed: 11))
    #expect(failure { try store.declare(rules, for: "a") } == .invalidArgument)
    try store.override(Rules.Overrides(limits: Limits(guaranteed: Limits.unlimited)), for: "a")
    #expect(try store.namespace("a").info()?.rules.limits.guaranteed == nil)
    #expect(try store.namespace("a").info()?.declared.limits.guaranteed == 500)
    try store.override(Rules.Overrides(limits: Limits(bytes: 10)), for: "a")
    #expect(declare(20, for: "a") == nil, "code does not know the override")
    #expect(try store.namespace("a").info()?.rules.limits == Limits(bytes: 10, guaranteed: 10))
  }

  @Test func `a full namespace does not evict what takes guaranteed bytes with it`() throws {
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
    // A guarantee protects a namespace only from evictions by other namespaces, not from its own removals, expiries and writes.
    try store.declare(Rules(limits: Limits(entries: 2, guaranteed: 200)), for: "images")
    #expect(try articles.count() == 0 && images.count() == 0)
  }
}
