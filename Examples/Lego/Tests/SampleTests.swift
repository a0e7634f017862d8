import ExampleTesting
import Foundation
import LegoCache
import Testing

@Suite struct SampleTests {
  private let folder = EntityFolder(directory: Folders.sample)

  private func read<Entity: LegoEntity>(_ type: Entity.Type) throws -> [Entity] {
    let entities = try folder.read(type)
    #expect(Set(entities.map(\.key)).count == entities.count, "\(type) has a key twice")
    #expect(entities.count >= 40)
    let data = try Data(
      contentsOf: URL(filePath: Folders.sample).appending(path: "\(type.kind.word).json"))
    #expect(try JSONShape(encoding: entities) == JSONShape(data), "\(type) loses something")
    return entities
  }

  @Test func `every kind is there, whole, and all agree with each other`() throws {
    let colors = Dictionary(uniqueKeysWithValues: try read(Color.self).map { ($0.id, $0) })
    let themes = Set(try read(Theme.self).map(\.id))
    let categories = Set(try read(PartCategory.self).map(\.id))
    let parts = Dictionary(uniqueKeysWithValues: try read(Part.self).map { ($0.partNum, $0) })
    let sets = try read(ModelSet.self)
    let elements = try read(Element.self)
    let pairs = try read(PartColor.self)

    for theme in try folder.read(Theme.self) {
      #expect(theme.parentID.map(themes.contains) ?? true)
    }
    for part in parts.values {
      #expect(categories.contains(part.categoryID), "part \(part.key)")
      #expect(part.printOf.map { parts[$0] != nil } ?? true, "part \(part.key)")
    }
    for set in sets { #expect(set.themeID.map(themes.contains) ?? set.setNum.hasPrefix("fig-")) }
    for element in elements {
      #expect(parts[element.part.partNum] == element.part, "element \(element.key)")
      #expect(colors[element.color.id] == element.color, "element \(element.key)")
    }
    var listed: Set<String> = []
    for pair in pairs {
      #expect(parts[pair.partNum] != nil && colors[pair.colorID]?.name == pair.colorName)
      let own = elements.filter { $0.part.partNum == pair.partNum && $0.color.id == pair.colorID }
      #expect(Set(own.map(\.key)) == Set(pair.elements), "pair \(pair.key)")
      listed.formUnion(pair.elements)
    }
    #expect(listed == Set(elements.map(\.key)))
  }

  @Test func `it holds what trips caches up`() throws {
    let colors = try folder.read(Color.self)
    #expect(Set(colors.map(\.key)).isSuperset(of: ["-1", "9999"]))
    #expect(colors.contains { $0.externalIDs == [:] })
    #expect(colors.contains { $0.externalIDs?["Peeron"]?.ids.contains(nil) == true })
    let parts = try folder.read(Part.self)
    #expect(Set(parts.map(\.key)).isSuperset(of: ["003381", "5102c01.875", "134916-740"]))
    let sets = try folder.read(ModelSet.self)
    #expect(Set(sets.map(\.key)).isSuperset(of: ["0003977811-1", "CINDERELLASCASTLE-1", "001-1"]))
    #expect(sets.contains { $0.partCount == 0 })
    #expect(sets.contains { $0.themeID == nil } && sets.contains { $0.imageURL == nil })
    #expect(try folder.read(Theme.self).count { $0.name == "Technic" } == 5)
    let pairs = try folder.read(PartColor.self)
    #expect(pairs.contains { $0.colorID == -1 } && pairs.contains { $0.colorID == 9999 })

    let scalars = Set((parts.map(\.name) + sets.map(\.name)).flatMap(\.unicodeScalars))
    for scalar in ["\u{200B}", "\u{FEFF}", "\u{200E}", "\u{FE0F}", "\"", "'"] as [Unicode.Scalar] {
      #expect(scalars.contains(scalar), "U+\(String(scalar.value, radix: 16))")
    }
    #expect(parts.contains { $0.name.contains("16\" x 12.5\"") })
  }

  @Test func `it stays small`() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Folders.sample)
    #expect(Set(files) == Set(EntityKind.allCases.map { "\($0.word).json" }))
    let bytes = try files.reduce(0) { sum, file in
      try sum + Data(contentsOf: URL(filePath: Folders.sample).appending(path: file)).count
    }
    #expect(bytes < 400_000)
  }

  @Test(
    .enabled(if: Folders.hasShared, "skipped: no dumps on this machine"))
  func `its names and numbers are those of the dump`() throws {
    let dump = RebrickableDump(directory: try Folders.shared("lego/csv/2024-07-26").path)
    var parts: [String: Part] = [:]
    try dump.parts { parts[$0.key] = $0 }
    for part in try folder.read(Part.self) {
      let real = try #require(parts[part.key])
      #expect(real.categoryID == part.categoryID && Array(real.name.utf8) == Array(part.name.utf8))
    }
    var sets: [String: ModelSet] = [:]
    try dump.sets { sets[$0.key] = $0 }
    try dump.minifigs { sets[$0.key] = $0 }
    for set in try folder.read(ModelSet.self) {
      let real = try #require(sets[set.key])
      #expect(real.name == set.name && real.year == set.year && real.partCount == set.partCount)
      #expect(real.themeID == set.themeID)
    }
    var pairs: [String: PartColor] = [:]
    try dump.partColors { pairs[$0.key] = $0 }
    for pair in try folder.read(PartColor.self) {
      #expect(pairs[pair.key].map { Set($0.elements) } == Set(pair.elements))
    }
  }
}
