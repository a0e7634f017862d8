import Larder
import Service

/// The room that a dump needs in a store.
extension RebrickableDump {
  /// About how many bytes of a store's file the entities of the folder take; within a fifth for the dumps of 2023 and 2024.
  public func storedSize(of kinds: [EntityKind] = EntityKind.allCases) -> Int {
    kinds.reduce(0) { $0 + storedSize(of: $1) }
  }

  private func storedSize(of kind: EntityKind) -> Int {
    guard let files = files(of: kind) else { return 0 }
    // Elements and pairs are as many as rows of the first file. The others have the parts and colors in them.
    return (kind == .sets ? files[...] : files.prefix(1)).reduce(0) {
      $0 + storedSize(of: $1, kind)
    }
  }

  private func storedSize(of path: String, _ kind: EntityKind) -> Int {
    var skipped = SkippedRows()
    let bytes: [UInt8]
    // The import says why a file cannot be read.
    do { bytes = try DumpFile.bytes(of: path, &skipped) } catch { return 0 }
    // JSON has the names of the fields already, and an entry of a few hundred bytes takes some 200 more.
    if path.hasSuffix(".json") { return 2 * bytes.count }
    let rows = bytes.count { $0 == UInt8(ascii: "\n") }
    return bytes.count + rows * Self.overhead(of: kind)
  }

  /// The bytes that an entity takes beyond those of its row.
  private static func overhead(of kind: EntityKind) -> Int {
    switch kind {
    case .colors, .themes, .categories, .parts: 230
    case .sets: 260
    // With part and color in it.
    case .elements: 390
    // Some pairs have several elements.
    case .partColors: 200
    }
  }
}

extension LegoCache {
  /// About how many bytes of the file are not those of entities that an import replaces: of other realms and other programs.
  public func otherSize() throws -> Int {
    let own = EntityKind.allCases.map { realm.name($0.namespace) }
    return try larder.statistics().namespaces.filter { !own.contains($0.info.name) }
      .reduce(0) { $0 + $1.usage.bytes.used + $1.usage.entries.used * Self.entryOverhead }
  }

  /// What the store needs for an entry beside its value, indexes and free space included.
  private static var entryOverhead: Int { 200 }
}
