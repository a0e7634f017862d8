/// Writes rows in a mode, a batch at a time, so that a long list is not held in memory.
///
/// The columns of a table are as wide as the widest cell so far: later batches align with the first one
/// unless they need more.
package struct RowWriter: Sendable {
  private let presentation: Presentation
  private let columns: [Column]
  /// The indices of the columns that this mode shows.
  private let shown: [Int]
  private let isObject: Bool
  private var table: TableLayout
  private var count = 0
  /// The rows of a box, whose widths depend on all of them.
  private var kept: [[Cell]] = []
  /// The number of rows, if it is known before they are written.
  package var total: Int?

  package init(
    _ presentation: Presentation, columns: [Column], isObject: Bool = false, isLong: Bool = false
  ) {
    self.presentation = presentation
    self.columns = columns
    self.isObject = isObject
    let visibility: Column.Visibility =
      switch presentation.mode {
      case .table, .box, .markdown: isLong ? [.table, .long] : .table
      case .plain, .raw, .auto: isLong ? .data : .plain
      case .json, .jsonl, .csv, .vertical: .data
      }
    let shown = columns.indices.filter { !columns[$0].visibility.isDisjoint(with: visibility) }
    self.shown = shown
    table = TableLayout(presentation, titles: shown.map { columns[$0].title })
  }

  package init(_ presentation: Presentation, _ reply: Reply) {
    switch reply.body {
    case .rows(let columns, let rows):
      self.init(presentation, columns: columns, isLong: reply.isLong)
      total = rows.count
    case .object(let columns, _):
      self.init(presentation, columns: columns, isObject: true, isLong: reply.isLong)
    case .bytes, .text:
      self.init(presentation, columns: [])
    }
  }

  /// The bytes before the first row.
  package func begin() -> [UInt8] {
    switch presentation.mode {
    case .json where !isObject: Array("[".utf8)
    case .csv: CSV.line(CSV.header(shown.map { columns[$0] }))
    case .markdown: table.markdownHeader(isObject: isObject)
    default: []
    }
  }

  /// The next rows, each with a cell for every column.
  package mutating func write(_ rows: [[Cell]]) -> [UInt8] {
    guard !rows.isEmpty, !shown.isEmpty else { return [] }
    defer { count += rows.count }
    switch presentation.mode {
    case .vertical:
      return rows.enumerated().flatMap { block($1, number: count + $0 + 1) }
    case .box:
      kept += rows.map { row in shown.map { row[$0] } }
      return []
    case .markdown:
      return table.markdown(rows.map { row in shown.map { row[$0] } }, isObject: isObject)
    case .table where isObject:
      return table.facts(shown.map { rows[0][$0] })
    case .table:
      return table.lines(rows.map { row in shown.map { row[$0] } }, withHeader: count == 0)
    default:
      var bytes: [UInt8] = []
      for (index, row) in rows.enumerated() { append(row, isFirst: count + index == 0, to: &bytes) }
      return bytes
    }
  }

  /// The bytes after the last row.
  package mutating func end() -> [UInt8] {
    switch presentation.mode {
    case .json: return Array((isObject ? "\n" : "]\n").utf8)
    case .box where !kept.isEmpty:
      defer { kept = [] }
      return table.box(kept, isObject: isObject)
    default: return []
    }
  }

  /// `name: value` on a line for each field; values in full.
  private func block(_ row: [Cell], number: Int) -> [UInt8] {
    let names = shown.map { SafeText(columns[$0].name).description }
    let width = names.map { DisplayWidth.of($0) }.max() ?? 0
    var text = ""
    if !isObject, presentation.isTerminal {
      let dash = presentation.hasUnicode ? "\u{2500}\u{2500}" : "--"
      text += "\(dash) \(number)\(total.map { " of \($0)" } ?? "") \(dash)\n"
    } else if number > 1 {
      text += "\n"
    }
    for (name, index) in zip(names, shown) {
      let space = String(repeating: " ", count: width - DisplayWidth.of(name))
      text += "\(space)\(name): \(row[index].shown(presentation))\n"
    }
    return Array(text.utf8)
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
    case .plain where !presentation.endsWithNUL:
      bytes +=
        shown.map { index in
          let text = row[index].plain(isName: columns[index].isName)
          return presentation.isTerminal ? Quoting.printable(Array(text.utf8)) : text
        }.joined(separator: "\t").utf8
      bytes.append(.newline)
    case .plain, .raw, .table, .auto, .vertical, .box, .markdown:
      for (position, index) in shown.enumerated() {
        if position > 0, !presentation.endsWithNUL { bytes.append(.tab) }
        // A terminal would obey a key.
        let raw = row[index].raw
        bytes += presentation.isTerminal ? Self.visible(raw[...]) : raw
        if presentation.endsWithNUL { bytes.append(0) }
      }
      if !presentation.endsWithNUL { bytes.append(.newline) }
    }
  }

  /// At a terminal, escapes the control characters that a file would hold.
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
