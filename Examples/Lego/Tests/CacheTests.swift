import ExampleTesting

@testable import LegoCache

/// Entities under their keys, their lifetimes and numbers, and the errors of a cache. The tests of Larder have races.
@Suite(.checkedStores) struct CacheTests {
  private let clock = ManualClock()
  private let lego: LegoCache

  private let red = Color(id: 4, name: "Red", rgb: "C91A09", isTransparent: false)
  private let brick = Part(partNum: "3001", name: "Brick 2 x 4", categoryID: 11)

  init() throws { lego = try LegoCache.temporary(.default, clock: clock) }

  @Test func `an entity is returned as stored, and equal keys of kinds are two`() throws {
    let pair = PartColor(partNum: "3001", colorID: 4, colorName: "Red", elements: ["300121"])
    let theme = Theme(id: 4, name: "Expert Builder", parentID: 1)
    try lego.store(red)
    try lego.store(brick)
    try lego.store(pair)
    try lego.store(theme)
    #expect(try lego.cached(Color.self, key: "4") == red)
    #expect(try lego.cached(Part.self, key: "3001") == brick)
    #expect(try lego.cached(PartColor.self, key: "3001/4") == pair)
    #expect(try lego.cached(PartColor.self, key: "3001") == nil)
    try lego.store(Color(id: 4, name: "Bright Red", rgb: "C91A09"))
    #expect(try lego.cached(Color.self, key: "4")?.name == "Bright Red" && lego.count() == 4)
    #expect(try lego.namespace(of: .colors).remove("4"))
    #expect(try lego.namespace(of: .colors).remove("4") == false)
    #expect(try lego.cached(Color.self, key: "4") == nil)
    #expect(try lego.cached(Theme.self, key: "4") == theme)
  }

  // MARK: Numbers

  /// A plan whose sets expire after a second.
  private static let brief: CachePlan = {
    var plan = CachePlan.default
    plan.disk[.sets] = EntityRule(.after(.seconds(1)), servesStaleOnError: false)
    return plan
  }()

  @Test func `counting changes nothing, and clearing returns numbers`() throws {
    let lego = LegoCache(lego.larder, plan: Self.brief)
    #expect(try lego.counts() == LegoCounts(memory: 0, database: 0))
    try lego.keep((0..<30).map { Color(id: $0, name: "Colour \($0)", rgb: "000000") })
    try lego.keep([ModelSet(setNum: "1-1", name: "A"), ModelSet(setNum: "2-1", name: "B")])
    for id in 0..<20 { _ = try lego.cached(Color.self, key: "\(id)") }
    clock.advance(by: .days(60))
    for _ in 1...3 {
      let counts = try lego.counts()
      #expect(counts == LegoCounts(memory: 20, database: 32) && counts.total == 32)
    }
    #expect(try lego.clearExpired() == 2 && lego.counts().database == 30)
    #expect(try lego.clear() == 30 && lego.clear() == 0)
    #expect(try lego.counts() == LegoCounts(memory: 0, database: 0))
  }

  @Test(arguments: [3600, 1800]) func `maintenance removes what has expired`(seconds: Int) throws {
    let lego = LegoCache(lego.larder, plan: Self.brief)
    let maintenance = try lego.maintenance(every: .seconds(seconds))
    #expect(
      try maintenance.interval == .seconds(seconds) && lego.maintenance().interval == .hours(1))
    try lego.keep([ModelSet(setNum: "1-1", name: "A")])
    clock.advance(by: .seconds(1))
    #expect(try maintenance.runOnce().removed.entries == 1 && lego.count() == 0)
  }

  // MARK: Errors

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
    let cannotOpen = #expect(throws: LarderError.self) { try LegoCache(at: file) }
    #expect(cannotOpen?.code == .cannotOpen || cannotOpen?.code == .foreign)
    var options = Store.Options()
    options.create = false
    let absent = #expect(throws: LarderError.self) {
      try LegoCache(at: folder.url.path + "/store", options: options)
    }
    #expect(absent?.code == .notFound)
    let cannotEncode = #expect(throws: LarderError.self) { try lego.store(Unwritable()) }
    #expect(cannotEncode?.code == .unencodable)
    try lego.larder.namespace("lego.colors").set(Array("{".utf8), for: "4")
    for _ in 0..<3 { #expect(try lego.cached(Color.self, key: "4") == nil) }
    let cannotDecode = #expect(throws: LarderError.self) {
      try lego.entities(Color.self)?.strictValue(for: "4")
    }
    #expect(cannotDecode?.code == .undecodable)
    try lego.store(red)
    #expect(try lego.entities(Color.self)?.strictValue(for: "4") == red)
    try lego.larder.close()
    let closed = #expect(throws: LarderError.self) { try lego.count() }
    #expect(closed?.code == .closed, "not a count of 0")
  }
}
