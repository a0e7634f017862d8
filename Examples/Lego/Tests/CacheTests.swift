import ExampleTesting

@testable import LegoCache

/// Entities under their keys, their lifetimes and numbers. Tests of Larder cover races, reads of an expired entry, values that
/// cannot be encoded or decoded, files that are no stores, hits in memory that decode nothing, and maintenance: each hour or
/// half hour, once, and after a restart.
@Suite(.checkedStores) struct CacheTests {
  private let clock = ManualClock()
  private let store: Store
  private let lego: LegoCache
  private let red = Color(id: 4, name: "Red", rgb: "C91A09", isTransparent: false)

  init() throws {
    store = try Store.tested(clock: clock)
    lego = try LegoCache(store)
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
    var plan = CachePlan.default
    plan.disk[.sets] = Rules(expires: .after(.milliseconds(100)))
    let lego = try LegoCache(store, plan: plan)
    try lego.keep(["1-1", "2-1"].map { ModelSet(setNum: $0, name: "A") })
    try lego.keep([red])
    clock.advance(by: .milliseconds(200))
    // A count changes nothing.
    for _ in 1...3 { #expect(try lego.counts() == LegoCache.Counts(memory: 0, database: 3)) }
    #expect(try lego.clearExpired() == 2 && lego.counts().database == 1)
    #expect(try lego.clear() == 1 && lego.clear() == 0 && lego.counts().total == 0)
  }

  @Test func `memory and disk are counted apart, an entity once`() throws {
    try lego.keep((0..<30).map { Color(id: $0, name: "", rgb: "") })
    for id in 0..<20 { _ = try lego.entities(Color.self)?.value(for: "\(id)") }
    let counts = try lego.counts()
    #expect(counts == LegoCache.Counts(memory: 20, database: 30) && counts.total == 30)
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
