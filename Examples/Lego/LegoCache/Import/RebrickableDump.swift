import Foundation
import Service

/// A folder of Rebrickable's CSV downloads, compressed or not, of any year since 2020; or of JSON, a file for each kind
/// (`colors.json`, ...) with an array, or a list as the API answers it, which is read in place of the CSV.
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

  /// The kinds of which all files are in the folder. Sets and minifigs are one kind of two files, CSV or JSON each: with one
  /// alone the entities of the other would seem to be removed.
  public var kinds: [EntityKind] { EntityKind.allCases.filter { files(of: $0) != nil } }

  /// The files that a kind is read from; nil if one of them is not there.
  func files(of kind: EntityKind) -> [String]? {
    let files =
      switch kind {
      case .sets: [Table.sets, .minifigs].map { file("\($0.rawValue).json") ?? path(of: $0) }
      default: json(of: kind).map { [$0] } ?? Self.tables(of: kind).map(path)
      }
    return files.contains(nil) ? nil : files.compactMap { $0 }
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
  /// - Parameter skipped: gets the rows that cannot be read, or refer to a missing part or colour, and fields that are left out.
  public func read<Entity: LegoEntity>(
    _ type: Entity.Type, skipped: inout SkippedRows
  ) throws -> [Entity] {
    try rows(of: type, &skipped).map(\.entity)
  }

  /// The same with what the rows leave empty, and their places.
  func rows<Entity: LegoEntity>(
    of type: Entity.Type, _ skipped: inout SkippedRows
  ) throws -> [DumpRow<Entity>] {
    if Entity.kind != .sets, let path = json(of: Entity.kind) {
      return try entities(of: path, &skipped)
    }
    let rows: any Sendable =
      switch Entity.kind {
      case .colors: try rows(.colors, &skipped) { try $0.color() }
      case .themes: try rows(.themes, &skipped) { try $0.theme() }
      case .categories: try rows(.categories, &skipped) { try $0.category() }
      case .parts: try rows(.parts, &skipped) { try $0.part() }
      case .sets: try sets(.sets, "set_num", &skipped) + sets(.minifigs, "fig_num", &skipped)
      case .elements: try elements(&skipped)
      case .partColors: try partColors(&skipped)
      }
    return rows as? [DumpRow<Entity>] ?? []
  }

  /// - Parameter key: the column of their numbers.
  private func sets(
    _ half: Table, _ key: String, _ skipped: inout SkippedRows
  ) throws -> [DumpRow<ModelSet>] {
    if let path = file("\(half.rawValue).json") { return try entities(of: path, &skipped) }
    return try rows(half, &skipped) { try $0.set(key) }
  }

  /// The entities of a file of JSON. As in a table, none at all is an error.
  private func entities<Entity: LegoEntity>(
    of path: String, _ skipped: inout SkippedRows
  ) throws -> [DumpRow<Entity>] {
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
    return body.list.elements.map { row in
      for fault in row.faults { skipped.add("\(file): \(row.entity.key): \(fault), and left out") }
      var row = row
      row.file = file
      return row
    }
  }

  func path(of table: Table) -> String? {
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
