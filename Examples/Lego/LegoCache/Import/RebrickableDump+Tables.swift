import Service

/// The tables of a dump, row by row.
extension RebrickableDump {
  /// Elements contain their part and colour.
  func elements(_ skipped: inout SkippedRows) throws -> [DumpRow<Element>] {
    let (colors, parts) = (try colorsByID(&skipped), try partsByNumber(&skipped))
    return try rows(.elements, &skipped) { row in
      let (part, color) = (try row.identifier("part_num"), try row.number("color_id"))
      guard let part = parts[part] else { throw row.skipped("no part \"\(part)\"") }
      guard let color = colors[color] else { throw row.skipped("no colour \(color)") }
      return try row.element(part, color)
    }
  }

  /// The pairs of part and colour that have elements, in the order of the table. Without the table of parts any part will do.
  func partColors(_ skipped: inout SkippedRows) throws -> [DumpRow<PartColor>] {
    let colors = try colorsByID(&skipped)
    let parts = path(of: .parts) == nil ? nil : try partsByNumber(&skipped)
    var pairs: [DumpRow<PartColor>] = []
    var positions: [String: Int] = [:]
    let all = try rows(.elements, &skipped) { row in
      let pair = try row.pair(colors)
      if let parts, parts[pair.partNum] == nil {
        throw row.skipped("no part \"\(pair.partNum)\"")
      }
      return pair
    }
    for pair in all.map(\.entity) {
      guard let position = positions[pair.key] else {
        positions[pair.key] = pairs.count
        pairs.append(DumpRow(entity: pair))
        continue
      }
      for element in pair.elements where !pairs[position].entity.elements.contains(element) {
        pairs[position].entity.elements.append(element)
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
    return Dictionary(parts.map { ($0.entity.partNum, $0.entity) }) { first, _ in first }
  }

  /// - Parameter skipped: learns if a colour cannot be read; the rows of its elements are skipped.
  private func colorsByID(_ skipped: inout SkippedRows) throws -> [Int: DumpRow<Color>] {
    var others = SkippedRows()
    let colors = try rows(.colors, &others) { try $0.color() }
    skipped.areUnreadable = skipped.areUnreadable || others.areUnreadable
    return Dictionary(colors.map { ($0.entity.id, $0) }) { first, _ in first }
  }

  /// The results of `body` for all rows but those that cannot be read or are skipped.
  ///
  /// A table without a row is an error, because an import would remove all entities of its kind; and so is one without a
  /// readable row, or without a column, which is damaged as a whole.
  func rows<Entity: Sendable>(
    _ table: Table, _ skipped: inout SkippedRows, _ body: (inout CSVRow) throws -> Entity
  ) throws -> [DumpRow<Entity>] {
    guard let path = path(of: table) else {
      throw DumpError(
        .unreadable, file: "\(table.rawValue).csv",
        message: "neither it nor \(table.rawValue).csv.gz is in \(directory)")
    }
    let bytes = try DumpFile.bytes(of: path, &skipped)
    var reader = try CSVReader(file: DumpFile.name(of: path), bytes: bytes)
    var rows: [DumpRow<Entity>] = []
    var (isReadable, fault) = (false, DumpError?.none)
    while true {
      do {
        guard var row = try reader.next() else { break }
        let entity = try body(&row)
        rows.append(
          DumpRow(entity: entity, cleared: row.cleared, file: reader.file, line: row.line))
        for fault in row.faults { skipped.add("\(fault), and left out") }
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
}
