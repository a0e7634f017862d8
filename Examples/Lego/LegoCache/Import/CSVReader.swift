import Service

/// Reads CSV as RFC 4180 has it, a row at a time: quotes double inside quotes, lines end in LF or CRLF, UTF-8 with or without
/// a byte order mark. The first row names the columns; one that repeats them, as in files put together, is skipped. Blank lines
/// are no rows.
///
/// It works on bytes. A malformed row is an error with its position; the next row is then read from the line after its first.
struct CSVReader {
  /// For messages.
  let file: String
  private(set) var columns: [String] = []

  /// The place of each column.
  private var places: [String: Int] = [:]
  private let bytes: [UInt8]
  private var at = 0
  private var line = 1
  private var lineStart = 0

  init(file: String, bytes: [UInt8]) throws(DumpError) {
    (self.file, self.bytes) = (file, bytes)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { (at, lineStart) = (3, 3) }
    guard let names = try row()?.fields.map(Self.bare) else {
      throw DumpError(.malformed, file: file, message: "empty, without even a row of column names")
    }
    for (place, name) in names.enumerated() {
      if places.updateValue(place, forKey: name) == nil { continue }
      throw malformed("two columns are called \"\(name)\"", 1)
    }
    columns = names
  }

  /// The next row, `nil` after the last.
  mutating func next() throws(DumpError) -> CSVRow? {
    guard let (line, fields) = try row() else { return nil }
    guard fields.count == columns.count else {
      throw malformed(
        "\(fields.count) fields, but the first row names \(columns.count) columns", line)
    }
    if zip(fields, columns).allSatisfy({ Self.bare($0) == $1 }) {
      throw DumpError(.skipped, file: file, line: line, message: "the names of the columns again")
    }
    return CSVRow(file: file, columns: places, line: line, fields: fields)
  }

  /// The next record that is no blank line, and its line. In a table of one column a blank line is an empty field.
  private mutating func row() throws(DumpError) -> (line: Int, fields: [String])? {
    while true {
      let (line, start) = (line, at)
      do {
        guard let fields = try record() else { return nil }
        if fields.count > 1 || columns.count == 1 || !Self.bare(fields[0]).isEmpty {
          return (line, fields)
        }
      } catch {
        // A quote in the wrong place may have hidden any number of lines.
        at = (bytes[start...].firstIndex(of: .lineFeed) ?? bytes.count - 1) + 1
        (self.line, lineStart) = (line + 1, at)
        throw error
      }
    }
  }

  /// A name of a column without blanks around it, and without the byte order mark of a file put after another.
  private static func bare(_ field: String) -> String {
    (field.hasPrefix("\u{FEFF}") ? String(field.dropFirst()) : field).trimmingBlanks
  }

  private var column: Int { at - lineStart + 1 }

  private mutating func record() throws(DumpError) -> [String]? {
    guard at < bytes.count else { return nil }
    var fields: [String] = []
    while true {
      fields.append(try field())
      guard at < bytes.count else { return fields }
      let (end, column) = (bytes[at], column)
      at += 1
      if end == .comma { continue }
      if end == .carriageReturn {
        guard at < bytes.count, bytes[at] == .lineFeed else {
          throw malformed("a carriage return without a line feed", line, column)
        }
        at += 1
      }
      beginLine()
      return fields
    }
  }

  /// Reads to the end of a field, and does not step over that.
  private mutating func field() throws(DumpError) -> String {
    let (start, line, column) = (at, line, column)
    let content: [UInt8]
    if at < bytes.count, bytes[at] == .quote {
      content = try quoted()
    } else {
      while at < bytes.count, !bytes[at].endsField {
        if bytes[at] == .quote {
          throw malformed("a quote inside a field that does not begin with one", line, self.column)
        }
        at += 1
      }
      content = Array(bytes[start..<at])
    }
    guard let text = String(validating: content, as: UTF8.self) else {
      throw malformed("a field that is not UTF-8", line, column)
    }
    return text
  }

  private mutating func quoted() throws(DumpError) -> [UInt8] {
    let (openLine, openColumn) = (line, column)
    var content: [UInt8] = []
    at += 1
    while at < bytes.count {
      let byte = bytes[at]
      at += 1
      if byte == .quote {
        if at == bytes.count || bytes[at].endsField { return content }
        guard bytes[at] == .quote else {
          throw malformed("text after the quote that closes a field", line, column)
        }
        at += 1
      }
      content.append(byte)
      if byte == .lineFeed { beginLine() }
    }
    throw malformed("a quote that is never closed", openLine, openColumn)
  }

  private mutating func beginLine() {
    line += 1
    lineStart = at
  }

  private func malformed(_ message: String, _ line: Int, _ column: Int? = nil) -> DumpError {
    DumpError(.malformed, file: file, line: line, column: column, message: message)
  }
}

extension UInt8 {
  fileprivate static let quote = UInt8(ascii: "\"")
  fileprivate static let comma = UInt8(ascii: ",")
  fileprivate static let lineFeed = UInt8(ascii: "\n")
  fileprivate static let carriageReturn = UInt8(ascii: "\r")

  fileprivate var endsField: Bool { self == .comma || self == .lineFeed || self == .carriageReturn }
}
