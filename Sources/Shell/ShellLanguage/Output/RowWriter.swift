/// Writes rows in batches, so that a long list needs little memory. A batch keeps the column widths of the previous batches.
package struct RowWriter: Sendable {
  private let presentation: Presentation
  private let columns: [Column]
  private let shown: [Int]
  private let isObject: Bool
  private var table: TableLayout
  private var count = 0

  package init(
    _ presentation: Presentation, columns: [Column], isObject: Bool = false, isLong: Bool = false
  ) {
    self.presentation = presentation
    self.columns = columns
    self.isObject = isObject
    let visibility: Column.Visibility =
      switch presentation.mode {
      case .table, .markdown: isLong ? [.table, .long] : .table
      case .plain, .raw, .auto: isLong ? .data : .plain
      case .json, .jsonl, .csv: .data
      }
    shown = columns.indices.filter { !columns[$0].visibility.isDisjoint(with: visibility) }
    table = TableLayout(presentation, titles: shown.map { columns[$0].title })
  }

  package func begin() -> [UInt8] {
    switch presentation.mode {
    case .json where !isObject: Array("[".utf8)
    case .csv: CSV.line(CSV.header(shown.map { columns[$0] }))
    case .markdown: table.markdownHeader(isObject: isObject)
    default: []
    }
  }

  package mutating func write(_ rows: [[Cell]]) -> [UInt8] {
    guard !rows.isEmpty, !shown.isEmpty else { return [] }
    defer { count += rows.count }
    switch presentation.mode {
    case .markdown:
      return table.markdown(rows.map { row in shown.map { row[$0] } }, isObject: isObject)
    case .table where isObject: return table.facts(shown.map { rows[0][$0] })
    case .table:
      return table.lines(rows.map { row in shown.map { row[$0] } }, withHeader: count == 0)
    default:
      var bytes: [UInt8] = []
      for (index, row) in rows.enumerated() { append(row, isFirst: count + index == 0, to: &bytes) }
      return bytes
    }
  }

  package func end() -> [UInt8] {
    presentation.mode == .json ? Array((isObject ? "\n" : "]\n").utf8) : []
  }

  private func append(_ row: [Cell], isFirst: Bool, to bytes: inout [UInt8]) {
    switch presentation.mode {
    case .json:
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      bytes += object(row).text.utf8
    case .jsonl:
      bytes += object(row).text.utf8
      bytes.append(.newline)
    case .csv:
      let line = CSV.line(shown.flatMap { CSV.fields(row[$0], of: columns[$0]) })
      bytes += presentation.isTerminal ? Self.visible(line.dropLast(2)) + line.suffix(2) : line
    case .plain, .raw, .table, .auto, .markdown:
      let isEscaped = presentation.mode == .plain && !presentation.endsWithNUL
      for (position, index) in shown.enumerated() {
        if position > 0, !presentation.endsWithNUL { bytes.append(.tab) }
        let field =
          isEscaped ? Array(row[index].plain(isName: columns[index].isName).utf8) : row[index].raw
        // A key may have control characters, on which a terminal would act, so a terminal gets escapes instead.
        bytes += presentation.isTerminal ? Self.visible(field[...]) : field
        if presentation.endsWithNUL { bytes.append(0) }
      }
      if !presentation.endsWithNUL { bytes.append(.newline) }
    }
  }

  private static func visible(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    Array(Quoting.printable(Array(bytes)).utf8)
  }

  private func object(_ row: [Cell]) -> JSON {
    var fields: [JSON.Field] = []
    var grouped: [JSON.Field] = []
    var group: String?
    for index in shown where row[index] != .blank {
      let field = row[index].jsonField(columns[index].name)
      if let name = columns[index].group {
        group = name
        grouped.append(field)
      } else {
        fields.append(field)
      }
    }
    if let group { fields.append(.init(group, .object(grouped))) }
    return .object(fields)
  }
}
