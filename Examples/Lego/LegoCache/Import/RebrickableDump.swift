import Foundation
import Service

/// A folder of Rebrickable's CSV downloads, compressed or not, of any year since 2020; or of JSON, a file for each kind
/// (`colors.json`, ...) with an array, or a list as the API answers it, which is read in place of the kind's CSV.
///
/// CSV has fewer fields than the API: those it lacks stay nil. A file is read into memory as a whole.
public struct RebrickableDump: Sendable {
  public let directory: String

  public init(directory: String) { self.directory = directory }

  /// A file of CSV; the raw value is its name without `.csv.gz`.
  enum Table: String {
    case colors, themes
    case categories = "part_categories"
    case parts, sets, minifigs, elements
  }

  /// The kinds of which all files are in the folder. Sets and minifigs are one kind: with one table alone the entities of
  /// the other would seem to be removed.
  public var kinds: [EntityKind] {
    EntityKind.allCases.filter { kind in
      json(of: kind) != nil || Self.tables(of: kind).allSatisfy { path(of: $0) != nil }
    }
  }

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

  /// All entities of a kind, in the order of the file. Throws ``DumpError``.
  ///
  /// - Parameter skipped: gets the rows that cannot be read, or refer to a missing part or colour.
  public func read<Entity: LegoEntity>(
    _ type: Entity.Type, skipped: inout SkippedRows
  ) throws -> [Entity] {
    if let path = json(of: Entity.kind) {
      return try entities(of: path, &skipped)
    }
    let entities: any Sendable =
      switch Entity.kind {
      case .colors: try rows(.colors, &skipped) { try $0.color() }
      case .themes: try rows(.themes, &skipped) { try $0.theme() }
      case .categories: try rows(.categories, &skipped) { try $0.category() }
      case .parts: try rows(.parts, &skipped) { try $0.part() }
      case .sets:
        try rows(.sets, &skipped) { try $0.set("set_num") }
          + rows(.minifigs, &skipped) { try $0.set("fig_num") }
      case .elements: try elements(&skipped)
      case .partColors: try partColors(&skipped)
      }
    return entities as? [Entity] ?? []
  }

  /// The entities of a file of JSON. As in a table, none at all is an error.
  private func entities<Entity: LegoEntity>(
    of path: String, _ skipped: inout SkippedRows
  ) throws -> [Entity] {
    let (file, bytes) = (DumpFile.name(of: path), try DumpFile.bytes(of: path, &skipped))
    let body: EntityFile<Entity>
    do {
      body = try JSONDecoder().decode(EntityFile<Entity>.self, from: Data(bytes))
    } catch {
      throw DumpError(
        .malformed, file: file, message: (error as? DecodingError)?.words ?? "\(error)")
    }
    for fault in body.list.skipped + [body.gap].compactMap({ $0 }) {
      skipped.add("\(file): \(fault)", isUnreadable: true)
    }
    guard !body.list.elements.isEmpty else {
      throw DumpError(.malformed, file: file, message: "the list is empty")
    }
    return body.list.elements
  }

  /// Elements contain their part and colour.
  private func elements(_ skipped: inout SkippedRows) throws -> [Element] {
    let (colors, parts) = (try colorsByID(&skipped), try partsByNumber(&skipped))
    return try rows(.elements, &skipped) { row in
      let (part, color) = (try row.identifier("part_num"), try row.number("color_id"))
      guard let part = parts[part] else { throw row.skipped("no part \"\(part)\"") }
      guard let color = colors[color] else { throw row.skipped("no colour \(color)") }
      return try row.element(part, color)
    }
  }

  /// The pairs of part and colour that have elements, in the order of the table. Without the table of parts any part will do.
  private func partColors(_ skipped: inout SkippedRows) throws -> [PartColor] {
    let colors = try colorsByID(&skipped)
    let parts = path(of: .parts) == nil ? nil : try partsByNumber(&skipped)
    var pairs: [PartColor] = []
    var positions: [String: Int] = [:]
    let all = try rows(.elements, &skipped) { row in
      let pair = try row.pair(colors)
      if let parts, parts[pair.partNum] == nil {
        throw row.skipped("no part \"\(pair.partNum)\"")
      }
      return pair
    }
    for pair in all {
      guard let position = positions[pair.key] else {
        positions[pair.key] = pairs.count
        pairs.append(pair)
        continue
      }
      for element in pair.elements where !pairs[position].elements.contains(element) {
        pairs[position].elements.append(element)
      }
    }
    return pairs
  }

  /// As in the import, the first row of a key counts.
  ///
  /// - Parameter skipped: learns if a part cannot be read; the rows of its elements are skipped.
  private func partsByNumber(_ skipped: inout SkippedRows) throws -> [String: Part] {
    var others = SkippedRows()
    let parts = try rows(.parts, &others) { try $0.part() }
    skipped.areUnreadable = skipped.areUnreadable || others.areUnreadable
    return Dictionary(parts.map { ($0.partNum, $0) }) { first, _ in first }
  }

  /// - Parameter skipped: learns if a colour cannot be read; the rows of its elements are skipped.
  private func colorsByID(_ skipped: inout SkippedRows) throws -> [Int: Color] {
    var others = SkippedRows()
    let colors = try rows(.colors, &others) { try $0.color() }
    skipped.areUnreadable = skipped.areUnreadable || others.areUnreadable
    return Dictionary(colors.map { ($0.id, $0) }) { first, _ in first }
  }

  /// The results of `body` for all rows but those that cannot be read or are skipped.
  ///
  /// A table without a row is an error, because an import would remove all entities of its kind; and so is one without a
  /// readable row, or without a column, which is damaged as a whole.
  private func rows<Row>(
    _ table: Table, _ skipped: inout SkippedRows, _ body: (CSVRow) throws -> Row
  ) throws -> [Row] {
    guard let path = path(of: table) else {
      throw DumpError(
        .unreadable, file: "\(table.rawValue).csv",
        message: "neither it nor \(table.rawValue).csv.gz is in \(directory)")
    }
    let bytes = try DumpFile.bytes(of: path, &skipped)
    var reader = try CSVReader(file: DumpFile.name(of: path), bytes: bytes)
    var rows: [Row] = []
    var (isReadable, fault) = (false, DumpError?.none)
    while true {
      do {
        guard let row = try reader.next() else { break }
        rows.append(try body(row))
        isReadable = true
      } catch let error as DumpError where error.kind == .skipped {
        skipped.add("\(error)")
        isReadable = true
      } catch let error as DumpError where error.kind != .missingColumn {
        skipped.add("\(error)", isUnreadable: true)
        fault = fault ?? error
      }
    }
    guard isReadable else {
      throw fault
        ?? DumpError(
          .malformed, file: reader.file, message: "no row after the names of the columns")
    }
    return rows
  }

  private func path(of table: Table) -> String? {
    file("\(table.rawValue).csv.gz") ?? file("\(table.rawValue).csv")
  }

  private func json(of kind: EntityKind) -> String? { file("\(kind.word).json") }

  private func file(_ name: String) -> String? {
    let path = URL(filePath: directory).appending(path: name).path
    var isFolder = false
    let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    return isThere && !isFolder ? path : nil
  }
}
