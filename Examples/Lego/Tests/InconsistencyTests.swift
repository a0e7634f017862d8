import ExampleTesting
import Foundation
import Larder
import LegoCache
import Testing

/// What a cache of this kind got wrong once, and what errors are called.
@Suite struct FaultTests {
  /// An entity that cannot be written.
  private struct Unwritable: LegoEntity {
    static let kind = EntityKind.colors
    var key: String { "4" }

    init() {}
    init(from decoder: any Decoder) throws {}

    func encode(to encoder: any Encoder) throws {
      throw EncodingError.invalidValue(
        self, .init(codingPath: [], debugDescription: "it has no form"))
    }
  }

  @Test func `cannot open, cannot encode, cannot decode: each has its code`() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("file", Array("not a store".utf8))
    let cannotOpen = #expect(throws: LarderError.self) { try LegoManager(at: file) }
    #expect(cannotOpen?.code == .cannotOpen || cannotOpen?.code == .foreign)

    let lego = try LegoCache.temporary(.default, clock: ManualClock())
    let cannotEncode = #expect(throws: LarderError.self) { try lego.store(Unwritable()) }
    #expect(cannotEncode?.code == .unencodable)
    try lego.larder.namespace("lego.colors").set("{", for: "4")
    let cannotDecode = #expect(throws: LarderError.self) {
      try lego.strictlyCached(Color.self, key: "4")
    }
    #expect(cannotDecode?.code == .undecodable)
    #expect(try lego.cached(Color.self, key: "4") == nil)
    try lego.store([Color(id: 4, name: "Red", rgb: "C91A09")])
    #expect(try lego.strictlyCached(Color.self, key: "4")?.name == "Red")
    try lego.larder.finish()
  }

  @Test func `a store that was closed is an error and not a count of none`() throws {
    let manager = LegoManager(try Store.temporary(clock: ManualClock()))
    try manager.keep([Color(id: 4, name: "Red", rgb: "C91A09")])
    try manager.cache?.larder.close()
    let error = #expect(throws: LarderError.self) { try manager.counts() }
    #expect(error?.code == .closed)
  }

  @Test func `a value that cannot be stored is given all the same, with the reason`() async throws {
    try await FakeRebrickable.run { fake in
      fake.put(Body.color(4, String(repeating: "x", count: 500)), at: "/lego/colors/4/")
      let lego = try LegoClient.temporary(of: fake)
      _ = try await lego.color(4)
      let store = try #require(lego.manager.cache?.larder)
      let name = try #require(store.namespaces().map(\.name).first { $0.hasPrefix("lego.colors") })
      try lego.manager.clear()
      try store.override(Rules.Overrides(largestValue: 100), for: name)
      let color = try await lego.color(4)
      #expect(color?.source == .loaded && (color?.error as? LarderError)?.code == .overLimit)
      #expect(try lego.manager.counts().database == 0)
      try store.finish()
    }
  }

  /// Theirs took 18 us at 100 entries and 675 us at 4,000.
  @Test func `a lookup costs the same however many there are`() throws {
    func cost(among count: Int) throws -> Duration {
      let lego = LegoCache(
        try Store.temporary(clock: ManualClock()), lifetimes: .default, memory: .disabled)
      try lego.store(
        (0..<count).map { Part(partNum: "\($0)", name: "Part \($0)", categoryID: 1) })
      var best = Duration.seconds(1)
      for _ in 0..<20 {
        let time = try ContinuousClock().measure {
          for key in 0..<50 { _ = try lego.cached(Part.self, key: "\(key * count / 50)") }
        }
        best = min(best, time)
      }
      try lego.larder.finish()
      return best
    }
    let (few, many) = (try cost(among: 100), try cost(among: 4000))
    #expect(many < few * 5, "\(few) among 100, \(many) among 4,000")
  }
}
