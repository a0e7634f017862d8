/// Reads CSV as RFC 4180 has it, a row at a time: quotes double inside quotes, lines end in LF or CRLF, UTF-8 with or without
/// a byte order mark. The first row names the columns.
///
/// It works on bytes. Malformed CSV is an error with its position; there is no recovery.
public struct CSVReader {
  /// For messages.
  public let file: String
  public private(set) var columns: [String] = []

  private let bytes: [UInt8]
  private var at = 0
  private var line = 1
  private var column = 1
  private var recordLine = 1
  private var header = CSVHeader(file: "", columns: [])

  public init(file: String, bytes: [UInt8]) throws(DumpError) {
    (self.file, self.bytes) = (file, bytes)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
    guard let names = try record() else {
      throw DumpError(.malformed, file: file, message: "empty, without even a row of column names")
    }
    if let twice = names.indices.first(where: { names[..<$0].contains(names[$0]) }) {
      throw DumpError(
        .malformed, file: file, line: 1, message: "two columns are called \"\(names[twice])\"")
    }
    columns = names
    header = CSVHeader(file: file, columns: names)
  }

  /// The next row, `nil` after the last.
  public mutating func next() throws(DumpError) -> CSVRow? {
    guard let fields = try record() else { return nil }
    guard fields.count == columns.count else {
      throw DumpError(
        .malformed, file: file, line: recordLine,
        message: "\(fields.count) fields, but the first row names \(columns.count) columns")
    }
    return CSVRow(header: header, line: recordLine, fields: fields)
  }
}

extension CSVReader {
  private enum End { case field, record }

  private mutating func record() throws(DumpError) -> [String]? {
    guard ahead != nil else { return nil }
    recordLine = line
    var fields: [String] = []
    fields.reserveCapacity(columns.count)
    var bytes: [UInt8] = []
    while true {
      let (line, column) = (line, column)
      bytes.removeAll(keepingCapacity: true)
      let end = try field(into: &bytes)
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw malformed("a field that is not UTF-8", line, column)
      }
      fields.append(text)
      if end == .record { return fields }
    }
  }

  private mutating func field(into bytes: inout [UInt8]) throws(DumpError) -> End {
    if ahead == .quote { return try quoted(into: &bytes) }
    while let byte = ahead {
      switch byte {
      case .comma, .lineFeed, .carriageReturn: return try end()
      case .quote:
        throw malformed("a quote inside a field that does not begin with one", line, column)
      default:
        bytes.append(byte)
        step(over: byte)
      }
    }
    return .record
  }

  private mutating func quoted(into bytes: inout [UInt8]) throws(DumpError) -> End {
    let (openLine, openColumn) = (line, column)
    step(over: .quote)
    while let byte = ahead {
      step(over: byte)
      guard byte == .quote else {
        bytes.append(byte)
        continue
      }
      switch ahead {
      case .quote:
        step(over: .quote)
        bytes.append(.quote)
      case .comma, .lineFeed, .carriageReturn, nil: return try end()
      default: throw malformed("text after the quote that closes a field", line, column)
      }
    }
    throw malformed("a quote that is never closed", openLine, openColumn)
  }

  /// Steps over the end of a field.
  private mutating func end() throws(DumpError) -> End {
    guard let byte = ahead else { return .record }
    let (line, column) = (line, column)
    step(over: byte)
    if byte == .comma { return .field }
    if byte == .carriageReturn {
      guard ahead == .lineFeed else {
        throw malformed("a carriage return without a line feed", line, column)
      }
      step(over: .lineFeed)
    }
    return .record
  }

  private func malformed(_ message: String, _ line: Int, _ column: Int) -> DumpError {
    DumpError(.malformed, file: file, line: line, column: column, message: message)
  }
}

extension CSVReader {
  /// The next byte, which stays the next; `nil` at the end.
  private var ahead: UInt8? { at < bytes.count ? bytes[at] : nil }

  private mutating func step(over byte: UInt8) {
    at += 1
    column += 1
    if byte == .lineFeed {
      line += 1
      column = 1
    }
  }
}

extension UInt8 {
  fileprivate static let quote = UInt8(ascii: "\"")
  fileprivate static let comma = UInt8(ascii: ",")
  fileprivate static let lineFeed = UInt8(ascii: "\n")
  fileprivate static let carriageReturn = UInt8(ascii: "\r")
}
