extension Color {
  /// The counts and years in dumps since 2025 are not fields of the API's colour.
  init(_ row: CSVRow) throws(DumpError) {
    self.init(
      id: try row.number("id"), name: try row.text("name"), rgb: try row.text("rgb"),
      isTransparent: try row.optionalTruth("is_trans"))
  }
}

extension Theme {
  init(_ row: CSVRow) throws(DumpError) {
    self.init(
      id: try row.number("id"), name: try row.text("name"),
      parentID: try row.optionalNumber("parent_id"))
  }
}

extension PartCategory {
  init(_ row: CSVRow) throws(DumpError) {
    self.init(id: try row.number("id"), name: try row.text("name"))
  }
}

extension Part {
  init(_ row: CSVRow) throws(DumpError) {
    self.init(
      partNum: try row.identifier("part_num"), name: try row.text("name"),
      categoryID: try row.number("part_cat_id"))
  }
}

extension ModelSet {
  init(set row: CSVRow) throws(DumpError) {
    self.init(
      setNum: try row.identifier("set_num"), name: try row.text("name"),
      year: try row.optionalNumber("year"), themeID: try row.optionalNumber("theme_id"),
      partCount: try row.optionalNumber("num_parts"), imageURL: row.optionalText("img_url"))
  }

  init(minifig row: CSVRow) throws(DumpError) {
    self.init(
      setNum: try row.identifier("fig_num"), name: try row.text("name"),
      partCount: try row.optionalNumber("num_parts"), imageURL: row.optionalText("img_url"))
  }
}

extension Element {
  init(_ row: CSVRow, part: Part, color: Color) throws(DumpError) {
    self.init(
      elementID: try row.identifier("element_id"), designID: row.optionalText("design_id"),
      part: part, color: color)
  }
}

extension CSVRow {
  func skipped(_ message: String) -> DumpError {
    DumpError(.skipped, file: header.file, line: line, message: message)
  }
}
