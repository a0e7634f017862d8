import Larder
import ShellLanguage

/// Reads an export or a CSV file with a header. Lines have a limit, because a file without newlines would fill the memory.
struct ExportReader {
  /// The first line of an export is short. In a later line, base64 or JSON needs up to six bytes for each byte of a value.
  private static let longestFirst = 64_000
  private static let longest = 6 * Rules.largestPossibleValue + (1 << 20)
  private static let noHead: SafeText =
    "it does not begin like an export, whose first line is {\"larder_export\":1}"

  /// An error in the file, and its place.
  struct Mistake: Error {
    var code = ShellError.Code.usage
    let reason: SafeText
    let line: Int
    var column = 1
  }

  /// The path of the file, or `stdin`.
  let name: SafeText
  /// The number of the first line of the record that was read last. A CSV record can have newlines in quotes.
  private(set) var line = 0
  /// The number of lines that were read, and the number of their bytes.
  private(set) var count = 0
  private(set) var bytes = 0
  let input: Host.Input
  private let checkInterruption: () throws -> Void
  /// The namespace of the rows if a CSV file has no column `namespace`.
  private let namespace: String?
  private let requiresCSV: Bool
  private var hasHead = false
  /// The columns of a CSV file; nil for an export in JSON lines.
  private var table: CSVTable?

  /// - Parameter requiresCSV: Whether an export in JSON lines, in which each line has its namespace, is an error.
  init(
    _ path: [UInt8], in session: Session, namespace: String? = nil, requiresCSV: Bool = false
  ) throws {
    input = try session.input(from: path)
    name = SafeText(path == Array("-".utf8) ? "stdin" : String(decoding: path, as: UTF8.self))
    checkInterruption = session.host.checkInterruption
    self.namespace = namespace
    self.requiresCSV = requiresCSV
  }

  /// The next line or CSV record after the head of the file. Nil at the end of the file. Throws a ``Mistake`` for a wrong line.
  mutating func next() throws -> ImportLine? {
    while let record = try nextRecord() {
      try checkInterruption()
      guard !record.allSatisfy({ $0 == .space || $0 == .tab }) else { continue }
      do throws(ImportLine.ParseError) {
        guard hasHead else {
          try readHead(record)
          continue
        }
        if let table { return try table.line(of: record) }
        return try ImportLine(record)
      } catch {
        let start = record[..<error.offset].lastIndex(of: .newline).map { $0 + 1 } ?? 0
        let before = record[..<start].count { $0 == .newline }
        throw Mistake(reason: error.reason, line: line + before, column: error.offset - start + 1)
      }
    }
    guard hasHead else { throw Mistake(reason: Self.noHead, line: 1) }
    return nil
  }

  func error(_ mistake: Mistake, hint: SafeText) -> ShellError {
    ShellError(
      mistake.code, "\(name):\(mistake.line):\(mistake.column): \(mistake.reason)", hint: hint)
  }

  private mutating func readHead(_ head: [UInt8]) throws(ImportLine.ParseError) {
    let names = JSONText.names(of: head)
    if names.contains("larder_export") || names.isEmpty && head.first == UInt8(ascii: "{") {
      guard case .head(let version) = try ImportLine(head) else {
        throw ImportLine.ParseError(Self.noHead)
      }
      guard version == ExportFormat.version else {
        throw ImportLine.ParseError("it is an export of version \(version)")
      }
      guard !requiresCSV else {
        throw ImportLine.ParseError("each line of an export names its namespace, so omit @NS")
      }
    } else {
      guard names.isEmpty, head.first != UInt8(ascii: "["), head.contains(UInt8(ascii: ",")) else {
        throw ImportLine.ParseError(Self.noHead)
      }
      table = try CSVTable(header: head, namespace: namespace)
    }
    hasHead = true
  }

  /// The next line without its newline, or in a CSV file the lines of the next record.
  private mutating func nextRecord() throws -> [UInt8]? {
    line = count + 1
    guard var record = try nextLine() else { return nil }
    func hasOpenQuote(_ text: [UInt8]) -> Bool { text.count { $0 == .doubleQuote } % 2 == 1 }
    let isCSV = hasHead ? table != nil : record.first != UInt8(ascii: "{")
    var isOpen = isCSV && hasOpenQuote(record)
    while isOpen, let more = try nextLine(after: record.count + 1) {
      isOpen = !hasOpenQuote(more)
      record += [.newline] + more
    }
    if record.last == .carriageReturn { record.removeLast() }
    return record
  }

  /// - Parameter before: The number of bytes of the record before the next line.
  private mutating func nextLine(after before: Int = 0) throws -> [UInt8]? {
    let most = hasHead ? Self.longest : Self.longestFirst
    guard var text = try input.item(.newline, most) else { return nil }
    guard before + text.count <= most else {
      throw ShellError(
        .usage, "\(name):\(line):1: the line is longer than \(Wording.size(most))",
        hint: hasHead ? "lines of an export are shorter" : "it does not begin like an export")
    }
    bytes += text.count + 1
    // Some editors write a byte order mark at the start of a file, so the mark is removed.
    if count == 0, text.starts(with: [0xEF, 0xBB, 0xBF]) { text.removeFirst(3) }
    count += 1
    return text
  }
}
