extension ShellError {
  /// For a person who sees the line just typed, `promptWidth` columns from the left edge: carets
  /// under the words, then the message and the hint.
  package func prompted(promptWidth: Int, columns: Int? = nil) -> String {
    // Only what was typed stands above; a line of a file is named.
    guard place?.source == .prompt else { return scripted }
    return caret(promptWidth: promptWidth, columns: columns) + "error: \(message)\n" + hintLine
  }

  /// For a script: where, what, what to do.
  package var scripted: String { "error: \(location)\(message)\n" + hintLine }

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
    // One `--eval` is nearly always one line, and then its column says all.
    if case .eval = place.source, place.line == 1 { return "\(source):\(place.column): " }
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
    // A line of several, or one that wrapped, is not right above: it is shown again.
    let isAbove =
      place.isLastLine
      && columns.map { promptWidth + DisplayWidth.of(text[...]) <= $0 } ?? true
    let margin = (isAbove ? promptWidth : 0) + DisplayWidth.of(text[..<start])
    let echo = isAbove ? "" : Quoting.printable(place.text) + "\n"
    if let columns, margin + width > columns { return "" }
    return echo + String(repeating: " ", count: margin) + String(repeating: "^", count: width)
      + "\n"
  }
}
