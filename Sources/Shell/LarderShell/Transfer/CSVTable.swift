import ShellLanguage

/// The columns of a CSV file of entries. Each column is also a column of `export --format csv`.
struct CSVTable {
  /// The columns whose fields are JSON. The fields of other columns are strings, and times are strings or numbers.
  private static let ofJSON: Set<String> = ["idle", "pinned", "owners", "tags"]
  private static let ofTime: Set<String> = ["written", "expires", "stale_until"]

  private let names: [String]
  /// The namespace of the rows if the file has no column `namespace`.
  private let namespace: String?

  init?(header line: [UInt8], namespace: String?) {
    let names = Self.fields(of: line).map { String(decoding: $0 ?? [], as: UTF8.self) }
    guard ["key", "key_base64"].contains(where: names.contains),
      ["value", "value_base64"].contains(where: names.contains)
    else { return nil }
    self.names = names
    self.namespace = namespace
  }

  func line(of record: [UInt8]) throws(ImportLine.ParseError) -> [UInt8] {
    let fields = Self.fields(of: record)
    guard fields.count == names.count else {
      throw ImportLine.ParseError(
        "it has \(Wording.count(fields.count, "field", "fields")), and the header \(names.count)")
    }
    var line: [JSON.Field] = []
    if !names.contains("namespace") {
      guard let namespace else {
        throw ImportLine.ParseError("it names no namespace, as `import FILE @NS` does")
      }
      line.append(.init("namespace", .string(namespace)))
    }
    for case (let name, let field?) in zip(names, fields) {
      guard let text = String(validating: field, as: UTF8.self) else {
        throw ImportLine.ParseError("\(name) is not UTF-8; bytes go into \(name)_base64")
      }
      // If RFC 3339 cannot express a time, `export` writes the time as a number. So a number is valid, too.
      let isNumber = Self.ofTime.contains(name) && Int64(text) != nil
      line.append(
        .init(name, isNumber || Self.ofJSON.contains(name) ? .verbatim(text) : .string(text)))
    }
    return Array(JSON.object(line).text.utf8)
  }

  /// The fields of a record (RFC 4180). A field is nil if it is empty and has no quotes.
  private static func fields(of record: [UInt8]) -> [[UInt8]?] {
    var fields: [[UInt8]?] = []
    var (field, isQuoted, hasQuotes) = ([UInt8](), false, false)
    func end() {
      fields.append(field.isEmpty && !hasQuotes ? nil : field)
      (field, hasQuotes) = ([], false)
    }
    var index = 0
    while index < record.count {
      let byte = record[index]
      index += 1
      switch byte {
      case .doubleQuote where isQuoted && index < record.count && record[index] == .doubleQuote:
        field.append(byte)
        index += 1
      case .doubleQuote:
        isQuoted.toggle()
        hasQuotes = true
      case UInt8(ascii: ",") where !isQuoted: end()
      default: field.append(byte)
      }
    }
    end()
    return fields
  }
}
