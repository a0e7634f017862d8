extension ShellError {
  /// For a person who sees the line just typed, `promptWidth` columns from the left edge: carets
  /// under the words, then the message and the hint.
  package func prompted(promptWidth: Int, columns: Int? = nil) -> String {
    // Only a typed line is visible above; a line of a file is named.
    guard place?.source == .prompt, code != .declined else {
      return DisplayWidth.wrap(scripted, columns: columns, indent: 2)
    }
    let text = "error: \(message)\n" + hintLine
    return caret(promptWidth: promptWidth, columns: columns)
      + DisplayWidth.wrap(text, columns: columns, indent: 2)
  }

  /// For a script: where, what, what to do.
  package var scripted: String {
    code == .declined ? "\(message)\n" : "error: \(location)\(message)\n" + hintLine
  }

  /// One JSON object on one line, for programs that read standard error.
  package var json: String {
    let error: [JSON.Field] = [
      .init("code", .string(code.rawValue)),
      .init("message", .string(message.description)),
      .init("hint", hint.map { .string($0.description) } ?? .null),
      .init("source", (place?.source.name).map { .string($0) } ?? .null),
      .init("line", place.map { .number($0.line) } ?? .null),
      .init("column", place.map { .number($0.column) } ?? .null),
    ]
    return JSON.object([.init("error", .object(error))]).text + "\n"
  }

  private var hintLine: String { hint.map { "hint: \($0)\n" } ?? "" }

  private var location: String {
    guard let place, let name = place.source.name else { return "" }
    let source = SafeText(name).description
    return "\(source):\(place.line):\(place.column): "
  }

  private func caret(promptWidth: Int, columns: Int?) -> String {
    guard let place, range != nil else { return "" }
    let text = String(decoding: place.text, as: UTF8.self)
    let start =
      text.index(
        text.startIndex, offsetBy: place.column - 1, limitedBy: text.endIndex) ?? text.endIndex
    let end = text.index(start, offsetBy: place.width, limitedBy: text.endIndex) ?? text.endIndex
    let width = max(DisplayWidth.of(text[start..<end]), 1)
    let margin = DisplayWidth.of(text[..<start])
    // A line of several, or one that wrapped, is not right above the caret: it is shown again.
    let isAbove =
      place.isLastLine
      && columns.map { promptWidth + DisplayWidth.of(text[...]) <= $0 } ?? true
    if isAbove { return Self.carets(width, behind: promptWidth + margin) }
    let line = Quoting.printable(place.text)
    guard let columns, DisplayWidth.of(line) > columns else {
      return line + "\n" + Self.carets(width, behind: margin)
    }
    return Self.scrolled(line, to: margin, width: width, columns: columns)
  }

  private static func carets(_ width: Int, behind margin: Int) -> String {
    String(repeating: " ", count: margin) + String(repeating: "^", count: width) + "\n"
  }

  /// The part of a long line around the error, with the carets under it.
  private static func scrolled(
    _ line: String, to margin: Int, width: Int, columns: Int
  ) -> String {
    let mark = "\u{2026}"
    let room = max(columns - 2, 8)
    let skipped = margin + width <= room ? 0 : max(margin - room / 2, 0)
    let head = DisplayWidth.prefix(of: line, columns: skipped)
    let rest = String(line.unicodeScalars.dropFirst(head.unicodeScalars.count))
    let lead = skipped > 0 ? mark : ""
    let shown = DisplayWidth.fit(rest, to: room, mark: mark)
    let offset = margin - DisplayWidth.of(head) + DisplayWidth.of(lead)
    return lead + shown + "\n" + carets(min(width, max(columns - offset, 1)), behind: offset)
  }
}
