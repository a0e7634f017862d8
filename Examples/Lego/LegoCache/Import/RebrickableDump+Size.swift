import Larder
import Service

/// The room that a dump needs in a store.
extension RebrickableDump {
  /// About how many bytes of a store's file the entities of the folder take.
  func storedSize(of kinds: [EntityKind] = EntityKind.allCases) -> Int {
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
    let rows = path.hasSuffix(".json") ? 0 : bytes.count { $0 == UInt8(ascii: "\n") }
    // Entries come in any order, which leaves pages half empty.
    return 2 * bytes.count + rows * Self.overhead(of: kind)
  }

  /// What an entity takes beyond twice its row: the names of the fields, and what the store needs for an entry.
  private static func overhead(of kind: EntityKind) -> Int {
    switch kind {
    case .colors, .themes, .categories: 200
    case .parts: 140
    case .sets: 160
    // With part and color in it.
    case .elements: 365
    // Some pairs have several elements.
    case .partColors: 175
    }
  }
}

extension LegoCache {
  /// About how large the file must be for an import of a dump to evict nothing.
  public func size(with dump: RebrickableDump) throws -> Int {
    let content = try dump.storedSize() + otherSize(than: dump.kinds)
    // The store keeps an eighth free, at most 64 MB.
    return content + min(content / 7, 64 << 20)
  }

  /// About how many bytes stay when an import replaces these kinds: of other kinds, realms and programs.
  func otherSize(than kinds: [EntityKind]) throws -> Int {
    let replaced = kinds.map { name($0.namespace) }
    return try larder.statistics().namespaces.filter { !replaced.contains($0.info.name) }
      .reduce(0) { $0 + $1.usage.bytes.used + $1.usage.entries.used * Self.entryOverhead }
  }

  /// What the store needs for an entry beside its value, indexes and free space included.
  private static var entryOverhead: Int { 260 }
}
