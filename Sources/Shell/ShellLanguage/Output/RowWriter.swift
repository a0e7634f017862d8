/// Writes rows in batches, so that a long list needs little memory. A batch keeps the column widths of the previous batches.
package struct RowWriter: Sendable {
  private let presentation: Presentation
  /// The columns that the mode shows, and the index of the cell of each column in a row.
  private let columns: [Column]
  private let indices: [Int]
  private let isObject: Bool
  private var table: TableLayout
  private var count = 0

  package init(
    _ presentation: Presentation, columns: [Column], isObject: Bool = false, isLong: Bool = false
  ) {
    self.presentation = presentation
    self.isObject = isObject
    let visibility: Column.Visibility =
      switch presentation.mode {
      case .table, .markdown: isLong ? [.table, .long] : .table
      case .plain, .raw, .auto: isLong ? .data : .plain
      case .json, .jsonl, .csv: .data
      }
    indices = columns.indices.filter { !columns[$0].visibility.isDisjoint(with: visibility) }
    self.columns = indices.map { columns[$0] }
    table = TableLayout(presentation, titles: self.columns.map(\.title))
  }

  package func begin() -> [UInt8] {
    switch presentation.mode {
    case .json where !isObject: Array("[".utf8)
    case .csv: CSV.line(CSV.header(columns))
    case .markdown: table.markdownHeader(isObject: isObject)
    default: []
    }
  }

  package mutating func write(_ rows: [[Cell]]) -> [UInt8] {
    guard !rows.isEmpty, !columns.isEmpty else { return [] }
    defer { count += rows.count }
    let shown = rows.map { row in indices.map { row[$0] } }
    switch presentation.mode {
    case .markdown: return table.markdown(shown, isObject: isObject)
    case .table where isObject: return table.facts(shown[0])
    case .table: return table.lines(shown, withHeader: count == 0)
    default:
      var bytes: [UInt8] = []
      for (index, row) in shown.enumerated() {
        append(row, isFirst: count + index == 0, to: &bytes)
      }
      return bytes
    }
  }

  package func end() -> [UInt8] {
    presentation.mode == .json ? Array((isObject ? "\n" : "]\n").utf8) : []
  }

  private func append(_ row: [Cell], isFirst: Bool, to bytes: inout [UInt8]) {
    switch presentation.mode {
    case .json, .jsonl:
      if !isFirst, presentation.mode == .json { bytes.append(UInt8(ascii: ",")) }
      let text = object(row).text.utf8
      if presentation.isTerminal { bytes += JSON.printable(text) } else { bytes += text }
      if presentation.mode == .jsonl { bytes.append(.newline) }
    case .csv:
      let line = CSV.line(zip(row, columns).flatMap { CSV.fields($0, of: $1) })
      bytes += presentation.isTerminal ? Self.visible(line.dropLast(2)) + line.suffix(2) : line
    case .plain, .raw, .table, .auto, .markdown:
      let isEscaped = presentation.mode == .plain && !presentation.endsWithNUL
      for (index, cell) in row.enumerated() {
        if index > 0, !presentation.endsWithNUL { bytes.append(.tab) }
        let field = isEscaped ? Array(cell.plain(isName: columns[index].isName).utf8) : cell.raw
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
    func fields(in group: String?) -> [JSON.Field] {
      zip(row, columns).compactMap { cell, column in
        cell == .blank || column.group != group ? nil : cell.jsonField(column.name)
      }
    }
    // The columns of a group come after all other columns.
    guard let group = columns.last?.group else { return .object(fields(in: nil)) }
    return .object(fields(in: nil) + [JSON.Field(group, .object(fields(in: group)))])
  }
}
