import CEditline

package struct Completion: Equatable, Sendable {
  /// The index of the byte at which the word begins. A candidate replaces the bytes from this index to the cursor.
  package let start: Int
  /// The texts to insert, with quotes if needed. A text ends with a space if its word is complete.
  package let candidates: [String]
  /// Whether there are more candidates than ``candidates`` holds.
  package let isCut: Bool

  package init(from start: Int, _ candidates: [String], isCut: Bool = false) {
    self.start = start
    self.candidates = candidates
    self.isCut = isCut
  }

  /// The longest common beginning of the candidates. This text may end within a character, because scalars are compared.
  var commonPrefix: String {
    guard let first = candidates.first?.unicodeScalars else { return "" }
    let shared = candidates.dropFirst().reduce(first[...]) { shared, candidate in
      shared.prefix(zip(shared, candidate.unicodeScalars).prefix { $0 == $1 }.count)
    }
    return String(shared)
  }
}

extension LineEditor {
  /// Tab: inserts the common beginning of the candidates. If this text adds nothing, lists the candidates.
  func completeWord() throws(TerminalError) -> Int32 {
    let line = buffer.line
    let completion = complete(line.bytes, line.cursor)
    guard !completion.candidates.isEmpty, completion.start <= line.cursor else { return CC_ERROR }
    let typed = Array(String(line.beforeCursor).utf8)[completion.start...]
    let shared = completion.commonPrefix
    // A candidate may begin with other text than the typed text, so the common beginning may be shorter than the typed text.
    if shared.utf8.elementsEqual(typed)
      || completion.candidates.count > 1 && shared.utf8.count <= typed.count
    {
      return try list(completion, of: line.bytes)
    }
    buffer.deleteBeforeCursor(scalars: String(decoding: typed, as: UTF8.self).unicodeScalars.count)
    return buffer.insert(shared) ? CC_REFRESH : CC_ERROR
  }

  private func list(_ completion: Completion, of line: [UInt8]) throws(TerminalError) -> Int32 {
    guard completion.candidates.count > 1 else { return CC_ERROR }
    let size = Terminal.size() ?? Terminal.usualSize
    let page = max(1, size.rows - 4)
    // The first Tab shows a short list. A second Tab for the same line shows as many candidates as fit the window.
    let isSecond = listedLine == line
    listedLine = line
    let rows = Completion.columns(
      of: completion.candidates.map { $0.hasSuffix(" ") ? String($0.dropLast()) : $0 },
      columns: size.columns,
      rows: isSecond ? page : min(Self.shortList, page), canShowMore: !isSecond,
      isCut: completion.isCut, mark: hasUnicode ? "\u{2026}" : "...")
    try display.leaveLine()
    try Terminal.write("\r\n" + rows.map { $0 + "\r\n" }.joined())
    // The result is not CC_REDISPLAY, because libedit would then move up by the rows of a wrapped line, and so into the list.
    display.redraw()
    return CC_NORM
  }

  private static let shortList = 8
}

extension Completion {
  /// Arranges the labels in columns from top to bottom, in at most `limit` rows. If labels do not fit, a further row says so.
  static func columns(
    of labels: [String], columns: Int, rows limit: Int, canShowMore: Bool = false,
    isCut: Bool = false, mark: String = "\u{2026}"
  ) -> [String] {
    var cells = labels.map { label in
      let visible: String.UnicodeScalarView = label.unicodeScalars.filter {
        Terminal.width(of: $0) != nil
      }
      let width = visible.reduce(0) { $0 + (Terminal.width(of: $1) ?? 0) }
      return (text: String(visible), width: width)
    }
    let cellWidth = (cells.map(\.width).max() ?? 0) + 2
    let across = max(1, (columns + 1) / cellWidth)
    cells = Array(cells.prefix(limit * across))
    let down = (cells.count + across - 1) / across
    var rows = (0..<down).map { row in
      let parts = stride(from: row, to: cells.count, by: down).map { cells[$0] }
      let padded = parts.dropLast().map {
        $0.text + String(repeating: " ", count: cellWidth - $0.width)
      }
      return padded.joined() + (parts.last?.text ?? "")
    }
    let left = labels.count - cells.count
    if left > 0 {
      rows.append(
        "\(mark) \(isCut ? "over " : "")\(left) more"
          + (canShowMore ? "; type more or press Tab again" : ""))
    } else if isCut {
      rows.append("\(mark) and more")
    }
    return rows
  }
}
