import ShellLanguage

/// The columns of a CSV file of entries. Each column is also a column of `export --format csv`.
struct CSVTable {
  /// The columns whose fields are JSON. The fields of other columns are strings, and times are strings or numbers.
  private static let ofJSON: Set<String> = ["idle", "pinned", "owners", "tags"]
  private static let ofTime: Set<String> = ["written", "expires", "stale_until"]

  private let names: [String]
  /// The namespace of the rows if the file has no column `namespace`.
  private let namespace: String?

  init(header line: [UInt8], namespace: String?) throws(ImportLine.ParseError) {
    names = try Self.fields(of: line).map { String(decoding: $0 ?? [], as: UTF8.self) }
    self.namespace = namespace
    guard ["key", "key_base64"].contains(where: names.contains),
      ["value", "value_base64"].contains(where: names.contains)
    else { throw ImportLine.ParseError("it is no header of CSV that names key and value") }
  }

  func line(of record: [UInt8]) throws(ImportLine.ParseError) -> ImportLine {
    let fields = try Self.fields(of: record)
    guard fields.count == names.count else {
      throw ImportLine.ParseError(
        "it has \(Wording.count(fields.count, "field", "fields")), and the header \(names.count)")
    }
    var line: [JSON.Field] = []
    if !zip(names, fields).contains(where: { $0 == "namespace" && $1 != nil }) {
      guard let namespace else {
        throw ImportLine.ParseError("it names no namespace, as `import FILE @NS` does")
      }
      line.append(.init("namespace", .string(namespace)))
    }
    // The columns of `export --show` come after all others, and show parts of the value.
    let isExport = names.starts(with: LineFields.names)
    for case (let name, let field?) in zip(
      names.prefix(isExport ? LineFields.names.count : .max), fields)
    {
      guard let text = String(validating: field, as: UTF8.self) else {
        throw ImportLine.ParseError("\(name) is not UTF-8; bytes go into \(name)_base64")
      }
      if Self.ofJSON.contains(name), (try? JSONText(field)) == nil {
        throw ImportLine.ParseError("\(name) is not JSON")
      }
      // `export` writes the times that RFC 3339 cannot express as numbers.
      let isNumber = Self.ofTime.contains(name) && Int64(text) != nil
      line.append(
        .init(name, isNumber || Self.ofJSON.contains(name) ? .verbatim(text) : .string(text)))
    }
    do { return try ImportLine(Array(JSON.object(line).text.utf8)) } catch {
      // The offset of this error is a place in the JSON text, not in the record.
      throw ImportLine.ParseError(error.reason)
    }
  }

  /// The fields of a record (RFC 4180); nil for an empty field without quotes. An inner quote is an error, because programs differ.
  private static func fields(of record: [UInt8]) throws(ImportLine.ParseError) -> [[UInt8]?] {
    var fields: [[UInt8]?] = []
    var rest = record[...]
    repeat {
      // The pieces of a field in quotes are separated by doubled quotes.
      var pieces: [ArraySlice<UInt8>] = []
      while rest.first == .doubleQuote {
        guard let end = rest.dropFirst().firstIndex(of: .doubleQuote) else {
          throw ImportLine.ParseError("a quote is not closed", at: rest.startIndex)
        }
        pieces.append(rest[..<end].dropFirst())
        rest = rest[(end + 1)...]
      }
      let isQuoted = !pieces.isEmpty
      if !isQuoted {
        pieces = [rest.prefix { $0 != .doubleQuote && $0 != UInt8(ascii: ",") }]
        rest = rest.dropFirst(pieces[0].count)
      }
      guard [nil, UInt8(ascii: ",")].contains(rest.first) else {
        throw ImportLine.ParseError(
          "a field that contains a quote must be in quotes, with that quote doubled",
          at: rest.startIndex)
      }
      let field = Array(pieces.joined(separator: [.doubleQuote]))
      fields.append(field.isEmpty && !isQuoted ? nil : field)
    } while rest.popFirst() != nil
    return fields
  }
}
