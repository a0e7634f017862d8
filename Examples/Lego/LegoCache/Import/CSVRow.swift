/// The first row of a file, shared by all that follow.
struct CSVHeader: Sendable {
  let file: String
  let positions: [String: Int]

  init(file: String, columns: [String]) {
    self.file = file
    positions = Dictionary(
      columns.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

/// A row of CSV; its fields go by the names in the first row.
public struct CSVRow: Sendable {
  let header: CSVHeader
  /// Where it begins, from 1.
  public let line: Int
  public let fields: [String]

  /// The field, `nil` when the file has no such column.
  public subscript(column: String) -> String? {
    header.positions[column].map { fields[$0] }
  }

  /// The field of a column that must be there; it may be empty.
  public func text(_ column: String) throws(DumpError) -> String {
    guard let field = self[column] else {
      throw DumpError(
        .missingColumn, file: header.file, line: 1, message: "no column \"\(column)\"")
    }
    return field
  }

  /// The field of a column that must be there and say something: a key.
  public func identifier(_ column: String) throws(DumpError) -> String {
    let field = try text(column)
    guard !field.isEmpty else { throw bad(column, "is empty") }
    return field
  }

  public func number(_ column: String) throws(DumpError) -> Int {
    let field = try text(column)
    guard let number = Int(field) else { throw bad(column, "\"\(field)\" is not a number") }
    return number
  }

  /// A field that may be absent or empty.
  public func optionalText(_ column: String) -> String? {
    guard let field = self[column], !field.isEmpty else { return nil }
    return field
  }

  public func optionalNumber(_ column: String) throws(DumpError) -> Int? {
    optionalText(column) == nil ? nil : try number(column)
  }

  /// `t`, `f`, `True`, `False`, 1 or 0 in any case; nil where the field is empty.
  public func optionalTruth(_ column: String) throws(DumpError) -> Bool? {
    switch optionalText(column)?.lowercased() {
    case nil: return nil
    case "t", "true", "1": return true
    case "f", "false", "0": return false
    case .some(let other): throw bad(column, "\"\(other)\" is neither true nor false")
    }
  }

  /// An error about one field of this row.
  func bad(_ column: String, _ message: String) -> DumpError {
    DumpError(.badValue, file: header.file, line: line, message: "\(column): \(message)")
  }
}
