/// The screen of a terminal after some bytes. This type knows the sequences of VT100 and xterm that libedit uses.
struct Screen {
  struct Cell: Equatable {
    var text = " "
    /// The numbers that set the color and style of this cell, such as `"1;36"`.
    var rendition = ""
  }

  private(set) var columns: Int
  private(set) var cells: [[Cell]]
  private(set) var row = 0
  private(set) var column = 0
  private(set) var isPasteMarked = false
  private(set) var isCursorHidden = false
  /// The content of the usual screen while the alternate screen is shown. Nil while the usual screen is shown.
  private var usual: (cells: [[Cell]], row: Int, column: Int)?
  /// Sequences that this type does not know. After such a sequence the content of the screen may be wrong.
  private(set) var unknown: [String] = []

  /// Whether rows are wrapped again when the width changes, as in many terminals.
  var wrapsAgain = false
  /// The answers of the terminal to questions of the program.
  var replies: [UInt8] = []
  /// The rows whose line continues in the next row.
  private var continues: Set<Int> = []
  private var rendition = ""
  /// Whether the last column is written and the cursor stays there. The next character then begins a new row.
  private var isWrapPending = false
  private var saved = (row: 0, column: 0, isWrapPending: false)
  private var pending: [UInt8] = []

  init(columns: Int, rows: Int) {
    self.columns = columns
    cells = Array(repeating: Array(repeating: Cell(), count: columns), count: rows)
  }

  /// The rows without the blanks at their ends and without the empty rows below.
  var lines: [String] {
    var lines = cells.map { row in
      var line = row.map(\.text).joined()
      while line.last == " " { line.removeLast() }
      return line
    }
    while lines.last == "" { lines.removeLast() }
    return lines
  }

  /// The row of the cursor.
  var line: String { row < lines.count ? lines[row] : "" }

  /// The color and style of the first occurrence of the text in a row. By default, the row is the row of the cursor.
  func rendition(of text: String, in row: Int? = nil) -> String? {
    let cells = cells[row ?? self.row]
    return cells.indices.first { start in
      cells[start...].map(\.text).joined().hasPrefix(text)
    }.map { cells[$0].rendition }
  }

  mutating func resize(columns: Int, rows: Int) {
    if wrapsAgain { wrapAgain(columns) }
    for index in cells.indices {
      cells[index] = Array(
        (cells[index] + Array(repeating: Cell(), count: columns)).prefix(columns))
    }
    while cells.count > rows {
      if row > 0 { row -= 1 }
      cells.removeFirst()
    }
    while cells.count < rows { cells.append(Array(repeating: Cell(), count: columns)) }
    self.columns = columns
    column = min(column, columns - 1)
    isWrapPending = false
  }

  private mutating func wrapAgain(_ columns: Int) {
    var lines: [[Cell]] = []
    var cursor = (line: 0, offset: 0)
    for (index, cells) in cells.enumerated() {
      if index == 0 || !continues.contains(index - 1) { lines.append([]) }
      if index == row { cursor = (lines.count - 1, lines[lines.count - 1].count + column) }
      lines[lines.count - 1] += cells
    }
    cells = []
    continues = []
    for (index, var line) in lines.enumerated() {
      while line.last == Cell(), index != cursor.line || line.count > cursor.offset + 1 {
        line.removeLast()
      }
      if index == cursor.line {
        row = cells.count + cursor.offset / columns
        column = cursor.offset % columns
      }
      repeat {
        if line.count > columns { continues.insert(cells.count) }
        let part = line.prefix(columns)
        cells.append(part + Array(repeating: Cell(), count: columns - part.count))
        line = Array(line.dropFirst(columns))
      } while !line.isEmpty
    }
    while cells.count > row + 1, cells[cells.count - 1].allSatisfy({ $0 == Cell() }) {
      cells.removeLast()
    }
  }

  mutating func feed(_ bytes: [UInt8]) {
    for byte in bytes {
      pending.append(byte)
      if takePending() { pending = [] }
    }
  }

  /// Takes the pending bytes if they form a whole character or escape sequence. Returns whether the bytes were taken.
  private mutating func takePending() -> Bool {
    let first = pending[0]
    if first == 0x1B { return takeEscape() }
    if first < 0x20 || first == 0x7F {
      control(first)
      return true
    }
    guard let text = String(validating: pending, as: UTF8.self) else {
      if pending.count >= 4 { unknown.append("bytes \(pending)") }
      return pending.count >= 4
    }
    draw(text.unicodeScalars.first!)
    return true
  }

  private mutating func takeEscape() -> Bool {
    guard pending.count > 1 else { return false }
    switch pending[1] {
    case UInt8(ascii: "["):
      guard let last = pending.last, pending.count > 2, (0x40...0x7E).contains(last) else {
        return false
      }
      let arguments = String(decoding: pending[2..<(pending.count - 1)], as: UTF8.self)
      sequence(arguments, Character(Unicode.Scalar(last)))
      return true
    case UInt8(ascii: "("): return pending.count == 3
    case UInt8(ascii: "M"):
      move(toRow: row - 1)
      return true
    case UInt8(ascii: "="), UInt8(ascii: ">"): return true
    case UInt8(ascii: "7"):
      saved = (row, column, isWrapPending)
      return true
    case UInt8(ascii: "8"):
      (row, column, isWrapPending) = saved
      return true
    default:
      unknown.append("ESC \(Character(Unicode.Scalar(pending[1])))")
      return true
    }
  }

  private mutating func control(_ byte: UInt8) {
    switch byte {
    case 0x07: break
    case 0x08: move(toColumn: column - 1)
    case 0x09: move(toColumn: (column / 8 + 1) * 8)
    case 0x0A: lineFeed()
    case 0x0D: move(toColumn: 0)
    default: unknown.append("control \(byte)")
    }
  }

  private mutating func sequence(_ arguments: String, _ final: Character) {
    let numbers = arguments.split(separator: ";", omittingEmptySubsequences: false).map {
      Int($0) ?? 0
    }
    let first = numbers.first ?? 0
    let count = max(1, first)
    switch final {
    case "A": move(toRow: row - count)
    case "B": move(toRow: row + count)
    case "C": move(toColumn: column + count)
    case "D": move(toColumn: column - count)
    case "G": move(toColumn: count - 1)
    case "H":
      move(toRow: count - 1)
      move(toColumn: max(1, numbers.count > 1 ? numbers[1] : 1) - 1)
    case "J": eraseScreen(first)
    case "K": eraseLine(first)
    case "P":
      cells[row].removeSubrange(column..<min(columns, column + count))
      cells[row] += Array(repeating: Cell(), count: columns - cells[row].count)
    case "@":
      cells[row].insert(contentsOf: Array(repeating: Cell(), count: count), at: column)
      cells[row].removeLast(cells[row].count - columns)
    case "n" where arguments == "6": replies += Array("\u{1B}[\(row + 1);\(column + 1)R".utf8)
    case "m": rendition = first == 0 ? "" : arguments
    case "h" where arguments == "?2004": isPasteMarked = true
    case "l" where arguments == "?2004": isPasteMarked = false
    case "l" where arguments == "?25": isCursorHidden = true
    case "h" where arguments == "?25": isCursorHidden = false
    case "h" where arguments == "?1049": enterAlternate()
    case "l" where arguments == "?1049": leaveAlternate()
    default: unknown.append("CSI \(arguments) \(final)")
    }
  }

  var isAlternate: Bool { usual != nil }

  private mutating func enterAlternate() {
    if usual == nil { usual = (cells, row, column) }
    for index in cells.indices { cells[index] = cells[index].map { _ in Cell() } }
  }

  private mutating func leaveAlternate() {
    guard let usual else { return }
    let size = (columns, cells.count)
    cells = usual.cells
    self.usual = nil
    (row, column) = (usual.row, usual.column)
    resize(columns: size.0, rows: size.1)
  }

  private mutating func eraseLine(_ part: Int) {
    let range = [column..<columns, 0..<(column + 1), 0..<columns][part]
    for index in range { cells[row][index] = Cell() }
    if part != 1 { continues.remove(row) }
  }

  private mutating func eraseScreen(_ part: Int) {
    let rows = [(row + 1)..<cells.count, 0..<row, 0..<cells.count][part]
    for index in rows { cells[index] = Array(repeating: Cell(), count: columns) }
    continues.subtract(rows)
    if part < 2 { eraseLine(part) }
  }

  private mutating func draw(_ scalar: Unicode.Scalar) {
    let width = Self.width(of: scalar)
    var base = isWrapPending ? column : max(0, column - 1)
    if cells[row][base].text.isEmpty, base > 0 { base -= 1 }
    // A character after U+200D becomes part of the previous character and takes no additional cell.
    guard width > 0, cells[row][base].text.unicodeScalars.last != "\u{200D}" else {
      cells[row][base].text.unicodeScalars.append(scalar)
      return
    }
    if isWrapPending || column + width > columns {
      continues.insert(row)
      move(toColumn: 0)
      lineFeed()
    }
    cells[row][column] = Cell(text: String(scalar), rendition: rendition)
    if width == 2 { cells[row][column + 1] = Cell(text: "", rendition: rendition) }
    isWrapPending = column + width == columns
    column = min(column + width, columns - 1)
  }

  private mutating func lineFeed() {
    isWrapPending = false
    if row == cells.count - 1 {
      cells.removeFirst()
      continues = Set(continues.map { $0 - 1 })
      cells.append(Array(repeating: Cell(), count: columns))
    } else {
      row += 1
    }
  }

  private mutating func move(toColumn target: Int) {
    column = min(max(0, target), columns - 1)
    isWrapPending = false
  }

  private mutating func move(toRow target: Int) {
    row = min(max(0, target), cells.count - 1)
    isWrapPending = false
  }

  /// The number of cells that a character takes. The table has only the characters that the tests type.
  static func width(of scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0x0300...0x036F, 0x200D: 0
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xFF00...0xFF60, 0x1F300...0x1FAFF: 2
    default: 1
    }
  }
}
