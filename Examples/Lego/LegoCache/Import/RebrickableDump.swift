#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A folder of Rebrickable's CSV downloads, compressed or not, of any year since 2020.
///
/// A dump has fewer fields than the API: those it lacks stay nil. A table is read into memory as a whole.
public struct RebrickableDump: Sendable {
  public let directory: String

  public init(directory: String) { self.directory = directory }

  /// A file of the dump; the raw value is its name without `.csv.gz`.
  public enum Table: String, CaseIterable, Sendable {
    case colors, themes
    case categories = "part_categories"
    case parts, sets, minifigs, elements

    /// The columns that an entity needs. Dumps of some years lack the others.
    var columns: [String] {
      switch self {
      case .colors: ["id", "name", "rgb"]
      case .themes: ["id", "name", "parent_id"]
      case .categories: ["id", "name"]
      case .parts: ["part_num", "name", "part_cat_id"]
      case .sets: ["set_num", "name"]
      case .minifigs: ["fig_num", "name"]
      case .elements: ["element_id", "part_num", "color_id"]
      }
    }
  }

  /// The tables that are in the folder.
  public var tables: [Table] { Table.allCases.filter { path(of: $0) != nil } }

  /// Opens a table to read it row by row.
  public func rows(of table: Table) throws(DumpError) -> CSVReader {
    let path = try presentPath(of: table)
    return try CSVReader(
      file: URL(filePath: path).lastPathComponent, bytes: try DumpFile.bytes(of: path))
  }

  /// The number of lines without the first: cheaper than parsing, and too high where a field has several lines.
  func lines(in table: Table) throws(DumpError) -> Int {
    let bytes = try DumpFile.bytes(of: presentPath(of: table))
    return max(0, bytes.count { $0 == UInt8(ascii: "\n") } - 1)
  }

  private func presentPath(of table: Table) throws(DumpError) -> String {
    if let path = path(of: table) { return path }
    throw DumpError(
      .unreadable, file: "\(table.rawValue).csv",
      message: "neither it nor \(table.rawValue).csv.gz is in \(directory)")
  }

  private func path(of table: Table) -> String? {
    ["csv.gz", "csv"]
      .map { URL(filePath: directory).appending(path: "\(table.rawValue).\($0)").path }
      .first { path in
        var isFolder = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder
      }
  }
}

extension RebrickableDump: EntitySource {
  /// The kinds of which all tables are in the folder. Sets and minifigs are one kind: with one table alone the entities of
  /// the other would seem to be removed.
  public var kinds: [EntityKind] {
    let present = Set(tables)
    return EntityKind.allCases.filter { present.isSuperset(of: Self.tables(of: $0)) }
  }

  /// Counts lines. There are fewer pairs of part and colour than elements.
  public func estimate(_ kind: EntityKind) throws -> Int {
    switch kind {
    case .sets: try lines(in: .sets) + lines(in: .minifigs)
    case .partColors: try lines(in: .elements)
    default: try Self.tables(of: kind).first.map { try lines(in: $0) } ?? 0
    }
  }

  /// The tables of a kind, its own first.
  private static func tables(of kind: EntityKind) -> [Table] {
    switch kind {
    case .colors: [.colors]
    case .themes: [.themes]
    case .categories: [.categories]
    case .parts: [.parts]
    case .sets: [.sets, .minifigs]
    case .elements: [.elements, .parts, .colors]
    case .partColors: [.elements, .colors]
    }
  }

  public func read<Entity: LegoEntity>(
    _ type: Entity.Type, _ body: (Entity) throws -> Void
  ) throws -> SkippedRows {
    func pass(_ entity: some LegoEntity) throws {
      if let entity = entity as? Entity { try body(entity) }
    }
    switch Entity.kind {
    case .colors: return try each(.colors) { try pass(Color($0)) }
    case .themes: return try each(.themes) { try pass(Theme($0)) }
    case .categories: return try each(.categories) { try pass(PartCategory($0)) }
    case .parts: return try each(.parts) { try pass(Part($0)) }
    case .sets:
      return try each(.sets) { try pass(ModelSet(set: $0)) }
        + each(.minifigs) { try pass(ModelSet(minifig: $0)) }
    case .elements: return try elements { try pass($0) }
    case .partColors: return try partColors { try pass($0) }
    }
  }

  /// Elements contain their part and colour, so all parts and colours stay in memory meanwhile.
  private func elements(_ body: (Element) throws -> Void) throws -> SkippedRows {
    let colors = try colorsByID()
    var parts: [String: Part] = [:]
    _ = try each(.parts) { row in
      let part = try Part(row)
      parts[part.partNum] = part
    }
    return try each(.elements) { row in
      let (part, color) = (try row.identifier("part_num"), try row.number("color_id"))
      guard let part = parts[part] else { throw row.skipped("no part \"\(part)\"") }
      guard let color = colors[color] else { throw row.skipped("no colour \(color)") }
      try body(Element(row, part: part, color: color))
    }
  }

  /// The pairs of part and colour that have elements, in the order of the table. All pairs stay in memory until its end.
  private func partColors(_ body: (PartColor) throws -> Void) throws -> SkippedRows {
    let colors = try colorsByID()
    var pairs: [PartColor] = []
    var positions: [String: Int] = [:]
    let skipped = try each(.elements) { row in
      let (part, color) = (try row.identifier("part_num"), try row.number("color_id"))
      guard let name = colors[color]?.name else { throw row.skipped("no colour \(color)") }
      let element = try row.identifier("element_id")
      let key = PartColor.key(part: part, color: color)
      if let position = positions[key] {
        if !pairs[position].elements.contains(element) {
          pairs[position].elements.append(element)
        }
      } else {
        positions[key] = pairs.count
        pairs.append(
          PartColor(partNum: part, colorID: color, colorName: name, elements: [element]))
      }
    }
    try pairs.forEach(body)
    return skipped
  }

  private func colorsByID() throws -> [Int: Color] {
    var colors: [Int: Color] = [:]
    _ = try each(.colors) { row in
      let color = try Color(row)
      colors[color.id] = color
    }
    return colors
  }

  /// Calls `body` with each row; skips a row for which it throws ``DumpError/Kind/skipped``.
  ///
  /// A table without a row is an error: an import would remove all entities of its kind.
  private func each(_ table: Table, _ body: (CSVRow) throws -> Void) throws -> SkippedRows {
    var reader = try rows(of: table)
    for column in table.columns where !reader.columns.contains(column) {
      throw DumpError(
        .missingColumn, file: reader.file, line: 1, message: "no column \"\(column)\"")
    }
    var skipped = SkippedRows()
    var isEmpty = true
    while let row = try reader.next() {
      isEmpty = false
      do {
        try body(row)
      } catch let error as DumpError where error.kind == .skipped {
        skipped.add("\(error)")
      }
    }
    if isEmpty {
      throw DumpError(
        .malformed, file: reader.file, message: "no row after the names of the columns")
    }
    return skipped
  }
}
