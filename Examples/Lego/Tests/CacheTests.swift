import ExampleTesting

@testable import LegoCache

/// Entities under their keys, their lifetimes and numbers: the tests of the source system, and its faults. Races of removals with
/// writes are tests of Larder.
@Suite(.checkedStores) struct CacheTests {
  private let clock = ManualClock()
  private let store: Store
  private let lego: LegoCache
  private let red = Color(id: 4, name: "Red", rgb: "C91A09", isTransparent: false)

  init() throws {
    store = try Store.tested(clock: clock)
    lego = LegoCache(store)
  }

  private func brief(_ lifetime: Duration, stale: Bool = false) -> LegoCache {
    var plan = CachePlan.default
    plan.disk[.sets] = EntityRule(.after(lifetime), servesStaleOnError: stale)
    return LegoCache(store, plan: plan)
  }

  private func sets(_ numbers: String...) -> [ModelSet] {
    numbers.map { ModelSet(setNum: $0, name: "A") }
  }

  @Test func `a typed value survives a round trip, and equal ids of types do not collide`() throws {
    let pair = PartColor(partNum: "3001", colorID: 4, colorName: "Red", elements: ["300121"])
    let theme = Theme(id: 4, name: "Expert Builder", parentID: 1)
    try lego.keep([red])
    try lego.keep([pair])
    try lego.keep([theme])
    #expect(try lego.entities(Color.self)?.value(for: "4") == red)
    #expect(try lego.entities(Theme.self)?.value(for: "4") == theme)
    #expect(try lego.entities(PartColor.self)?.value(for: "3001/4") == pair)
    #expect(try lego.entities(PartColor.self)?.value(for: "3001") == nil)
    let names = try store.namespaces().map(\.name).sorted()
    #expect(names == ["lego.colors", "lego.partcolors", "lego.themes"])
    #expect(EntityKind.allCases.allSatisfy { $0.type.kind == $0 })
  }

  @Test func `three entries, two of them expired: clearExpired returns 2, then count is 1`() throws
  {
    let lego = brief(.milliseconds(100))
    try lego.keep(sets("1-1", "2-1"))
    try lego.keep([red])
    clock.advance(by: .milliseconds(200))
    // Counting changes nothing.
    for _ in 1...3 { #expect(try lego.counts() == LegoCache.Counts(memory: 0, database: 3)) }
    #expect(try lego.clearExpired() == 2 && lego.counts().database == 1)
    #expect(try lego.clear() == 1 && lego.clear() == 0 && lego.counts().total == 0)
  }

  @Test func `reading an expired entry returns nil, and count falls from 1 to 0`() throws {
    let lego = brief(.milliseconds(950))
    try lego.keep(sets("1-1"))
    clock.advance(by: .milliseconds(949))
    #expect(try lego.entities(ModelSet.self)?.value(for: "1-1") != nil)
    clock.advance(by: .milliseconds(1))
    #expect(try lego.entities(ModelSet.self)?.keys() == [], "listings hide it")
    #expect(try lego.entities(ModelSet.self)?.value(for: "1-1") == nil)
    #expect(try lego.counts().database == 0)
  }

  @Test func `memory and disk are counted apart, an entity once`() throws {
    try lego.keep((0..<30).map { Color(id: $0, name: "", rgb: "") })
    for id in 0..<20 { _ = try lego.entities(Color.self)?.value(for: "\(id)") }
    let counts = try lego.counts()
    #expect(counts == LegoCache.Counts(memory: 20, database: 30) && counts.total == 30)
  }

  @Test func `three concurrent stores and reads succeed`() async throws {
    try await withThrowingTaskGroup { group in
      for id in 0..<3 {
        group.addTask { [lego] in
          try lego.keep([Color(id: id, name: "", rgb: "")])
          #expect(try lego.entities(Color.self)?.value(for: "\(id)")?.id == id)
        }
      }
      try await group.waitForAll()
    }
    #expect(try lego.counts().database == 3)
  }

  @Test(arguments: [3600, 1800]) func `maintenance: an interval, restart, and once`(
    seconds: Int
  ) async throws {
    let lego = brief(.seconds(1))
    let maintenance = try lego.maintenance(every: .seconds(seconds))
    #expect(maintenance.interval == .seconds(seconds))
    #expect(try lego.maintenance().interval == .hours(1))
    try lego.keep(sets("1-1"))
    clock.advance(by: .seconds(1))
    #expect(try maintenance.runOnce().removed.entries == 1 && lego.counts().database == 0)
    for _ in 1...2 {
      maintenance.start()
      maintenance.stop()
    }
  }

  /// Cannot be encoded.
  private struct Unwritable: LegoEntity {
    static let kind = EntityKind.colors
    var key: String { "4" }
    init() {}
    init(from decoder: any Decoder) throws {}

    func encode(to encoder: any Encoder) throws {
      throw EncodingError.invalidValue(self, .init(codingPath: [], debugDescription: "no form"))
    }
  }

  @Test func `cannot open, cannot encode, cannot decode: each has its code`() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("file", Array("not a store".utf8))
    let cannotOpen = #expect(throws: LarderError.self, "no count of 0") { try LegoCache(at: file) }
    #expect(cannotOpen?.code == .cannotOpen || cannotOpen?.code == .foreign)
    let cannotEncode = #expect(throws: LarderError.self) { try lego.keep([Unwritable()]) }
    #expect(cannotEncode?.code == .unencodable)
    try store.namespace("lego.colors").set(Array("{".utf8), for: "4")
    let colors = try #require(lego.entities(Color.self))
    for _ in 1...3 { #expect(try colors.value(for: "4") == nil, "a counted miss") }
    let cannotDecode = #expect(throws: LarderError.self) { try colors.strictValue(for: "4") }
    #expect(cannotDecode?.code == .undecodable)
    try lego.keep([red])
    #expect(try colors.strictValue(for: "4") == red, "neither blocks the next write")
  }

  @Test func `numbers may be text, and fields of another form are nil`() throws {
    func read<Entity: Decodable>(_ type: Entity.Type, _ json: String) throws -> Entity {
      try JSONDecoder().decode(type, from: Data(json.utf8))
    }
    let part = try read(
      Part.self,
      #"{"part_num": "03", "name": "", "part_cat_id": "11", "year_from": "1979", "year_to": "soon", "molds": 7}"#
    )
    #expect(part == Part(partNum: "03", name: "", categoryID: 11, yearFrom: 1979))
    let color = try read(Color.self, #"{"id": "4", "name": "", "rgb": "", "is_trans": "maybe"}"#)
    #expect(color == Color(id: 4, name: "", rgb: ""))
    let pair = #"{"part_num": "1", "color_id": 4, "elements": [4211398, "4211399", null]}"#
    #expect(try read(PartColor.self, pair).elements == ["4211398", "4211399"])
    #expect(throws: DecodingError.self) {
      try read(Color.self, #"{"id": "red", "name": "", "rgb": ""}"#)
    }
  }
}
