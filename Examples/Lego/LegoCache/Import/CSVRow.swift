import Service

/// A row of CSV; its fields go by the names in the first row.
struct CSVRow {
  let file: String
  /// The place of each column, by its name.
  let columns: [String: Int]
  /// Where it begins, from 1.
  let line: Int
  let fields: [String]
  /// The names in the API of the fields whose columns are there, but empty.
  private(set) var cleared: Set<String> = []
  /// Fields of a wrong form that were left out: the rest of the row is of use.
  private(set) var faults: [DumpError] = []

  init(file: String, columns: [String: Int], line: Int, fields: [String]) {
    (self.file, self.columns, self.line, self.fields) = (file, columns, line, fields)
  }

  /// The field, `nil` when the file has no such column.
  subscript(column: String) -> String? { columns[column].map { fields[$0] } }

  /// The field of a column that must be there; it may be empty.
  func text(_ column: String) throws(DumpError) -> String {
    if let field = self[column] { return field }
    throw DumpError(.missingColumn, file: file, line: 1, message: "no column \"\(column)\"")
  }

  /// The field of a column that must be there and say something: a key. Blanks around it are not part of it.
  func identifier(_ column: String) throws(DumpError) -> String {
    let field = try text(column).trimmingBlanks
    guard !field.isEmpty else { throw bad(column, "is empty") }
    return field
  }

  func number(_ column: String) throws(DumpError) -> Int {
    let field = try text(column).trimmingBlanks
    // Tools that merge tables write `4.0`.
    guard let number = Int(field) ?? Double(field).flatMap({ Int(exactly: $0) }) else {
      throw bad(column, "\"\(field)\" is not a number")
    }
    return number
  }

  /// A field that may be absent or empty.
  ///
  /// - Parameter name: its name in the API.
  mutating func optionalText(_ column: String, as name: String) -> String? {
    guard let text = self[column]?.trimmingBlanks else { return nil }
    if text.isEmpty { cleared.insert(name) }
    return text.isEmpty ? nil : text
  }

  mutating func optionalNumber(_ column: String, as name: String? = nil) -> Int? {
    guard optionalText(column, as: name ?? column) != nil else { return nil }
    do { return try number(column) } catch {
      faults.append(error)
      return nil
    }
  }

  /// `t`, `f`, `True`, `False`, 1 or 0 in any case.
  mutating func optionalTruth(_ column: String) -> Bool? {
    switch optionalText(column, as: column)?.lowercased() {
    case nil: return nil
    case "t", "true", "1": return true
    case "f", "false", "0": return false
    case .some(let other):
      faults.append(bad(column, "\"\(other)\" is neither true nor false"))
      return nil
    }
  }

  /// The error of a row that refers to nothing.
  func skipped(_ message: String) -> DumpError {
    DumpError(.skipped, file: file, line: line, message: message)
  }

  private func bad(_ column: String, _ message: String) -> DumpError {
    DumpError(.badValue, file: file, line: line, message: "\(column): \(message)")
  }
}

/// The entities of a row. Dumps of some years lack the columns of optional fields.
extension CSVRow {
  /// The counts and years in dumps since 2025 are not fields of the API's colour.
  mutating func color() throws(DumpError) -> Color {
    Color(
      id: try number("id"), name: try text("name"), rgb: try text("rgb"),
      isTransparent: optionalTruth("is_trans"))
  }

  mutating func theme() throws(DumpError) -> Theme {
    Theme(id: try number("id"), name: try text("name"), parentID: optionalNumber("parent_id"))
  }

  func category() throws(DumpError) -> PartCategory {
    PartCategory(id: try number("id"), name: try text("name"))
  }

  func part() throws(DumpError) -> Part {
    Part(
      partNum: try identifier("part_num"), name: try text("name"),
      categoryID: try number("part_cat_id"))
  }

  /// - Parameter key: the column of its number, which tells sets from minifigs.
  mutating func set(_ key: String) throws(DumpError) -> ModelSet {
    ModelSet(
      setNum: try identifier(key), name: try text("name"), year: optionalNumber("year"),
      themeID: optionalNumber("theme_id"), partCount: optionalNumber("num_parts"),
      imageURL: optionalText("img_url", as: "set_img_url"))
  }

  mutating func element(_ part: Part, _ color: DumpRow<Color>) throws(DumpError) -> Element {
    cleared.formUnion(color.cleared.map { "color." + $0 })
    return Element(
      elementID: try identifier("element_id"),
      designID: optionalText("design_id", as: "design_id"), part: part, color: color.entity)
  }

  /// The pair of an element.
  func pair(_ colors: [Int: DumpRow<Color>]) throws(DumpError) -> PartColor {
    let color = try number("color_id")
    guard let name = colors[color]?.entity.name else { throw skipped("no colour \(color)") }
    return PartColor(
      partNum: try identifier("part_num"), colorID: color, colorName: name,
      elements: [try identifier("element_id")])
  }
}
