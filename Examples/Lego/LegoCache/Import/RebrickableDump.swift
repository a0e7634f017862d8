#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A folder of Rebrickable's CSV downloads, packed or not, of any year since 2020.
///
/// Each reader hands over one entity after the other and holds no more than it must. A dump knows less than the API: what it
/// does not say stays `nil`.
public struct RebrickableDump: Sendable {
  public let directory: String

  public init(directory: String) { self.directory = directory }

  /// A file of the dump; the raw value is its name without `.csv.gz`.
  public enum Table: String, CaseIterable, Sendable {
    case colors, themes
    case categories = "part_categories"
    case parts, sets, minifigs, elements
  }

  /// The tables that are in the folder.
  public var tables: [Table] { Table.allCases.filter { path(of: $0) != nil } }

  /// Opens a table to read it row by row.
  public func rows(of table: Table) throws(DumpError) -> CSVReader {
    let path = try presentPath(of: table)
    return try CSVReader(
      file: URL(filePath: path).lastPathComponent, source: try FileSource.open(path))
  }

  /// How many rows a table has, as its lines tell: faster than reading it, and too many where a field has several lines.
  func lines(in table: Table) throws(DumpError) -> Int {
    let source = try FileSource.open(try presentPath(of: table))
    var lines = 0
    while let chunk = try source.next() {
      for byte in chunk where byte == UInt8(ascii: "\n") { lines += 1 }
    }
    return max(0, lines - 1)
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
      .first { FileManager.default.fileExists(atPath: $0) }
  }
}

extension RebrickableDump {
  /// Each reader's answer: how many it handed over.
  public typealias Count = Int

  @discardableResult
  public func colors(_ body: (Color) throws -> Void) throws -> Count {
    try each(.colors) { try body(Color($0)) }
  }

  @discardableResult
  public func themes(_ body: (Theme) throws -> Void) throws -> Count {
    try each(.themes) { try body(Theme($0)) }
  }

  @discardableResult
  public func categories(_ body: (PartCategory) throws -> Void) throws -> Count {
    try each(.categories) { try body(PartCategory($0)) }
  }

  @discardableResult
  public func parts(_ body: (Part) throws -> Void) throws -> Count {
    try each(.parts) { try body(Part($0)) }
  }

  /// Sets, without the minifigs.
  @discardableResult
  public func sets(_ body: (ModelSet) throws -> Void) throws -> Count {
    try each(.sets) { try body(ModelSet(set: $0)) }
  }

  @discardableResult
  public func minifigs(_ body: (ModelSet) throws -> Void) throws -> Count {
    try each(.minifigs) { try body(ModelSet(minifig: $0)) }
  }

  /// Elements with their part and colour in full, so all parts and colours are held meanwhile.
  @discardableResult
  public func elements(_ body: (Element) throws -> Void) throws -> Count {
    let colors = try colorsByID()
    var parts: [String: Part] = [:]
    try self.parts { parts[$0.partNum] = $0 }
    return try each(.elements) { row in
      let (part, color) = (try row.identifier("part_num"), try row.number("color_id"))
      guard let part = parts[part] else { throw row.dangling("no part \"\(part)\"") }
      guard let color = colors[color] else { throw row.dangling("no colour \(color)") }
      try body(Element(row, part: part, color: color))
    }
  }

  /// The pairs of part and colour that have elements, in the order in which the dump first names them, each with all its
  /// elements; so all pairs are held until the table ends.
  @discardableResult
  public func partColors(_ body: (PartColor) throws -> Void) throws -> Count {
    let colors = try colorsByID()
    var pairs: [PartColor] = []
    var positions: [String: Int] = [:]
    try each(.elements) { row in
      let (part, color) = (try row.identifier("part_num"), try row.number("color_id"))
      guard let name = colors[color]?.name else { throw row.dangling("no colour \(color)") }
      let element = try row.identifier("element_id")
      let key = PartColor.key(part: part, color: color)
      if let position = positions[key] {
        pairs[position].elements.append(element)
      } else {
        positions[key] = pairs.count
        pairs.append(
          PartColor(partNum: part, colorID: color, colorName: name, elements: [element]))
      }
    }
    try pairs.forEach(body)
    return pairs.count
  }

  private func colorsByID() throws -> [Int: Color] {
    var colors: [Int: Color] = [:]
    try self.colors { colors[$0.id] = $0 }
    return colors
  }

  @discardableResult
  private func each(_ table: Table, _ body: (CSVRow) throws -> Void) throws -> Count {
    var reader = try rows(of: table)
    var count = 0
    while let row = try reader.next() {
      try body(row)
      count += 1
    }
    return count
  }
}
