import Larder
import ShellLanguage

/// The line at the bottom, in which a filter, an expression or an expiry is typed, and the text that is looked for.
extension BrowseState {
  /// Shows the next line that contains the text, from the beginning after the last one.
  mutating func findNext() {
    guard let value, !find.isEmpty else { return }
    let lines = value.facts + value.lines
    let wanted = find.lowercased()
    let order =
      Array(lines.indices.dropFirst(valueTop + 1)) + Array(lines.indices.prefix(valueTop + 1))
    guard let line = order.first(where: { Frame.plain(lines[$0]).lowercased().contains(wanted) })
    else {
      message = Message(text: "not found: \(Array(find.utf8))", isError: true)
      return
    }
    // The line itself comes to the top where there are lines enough below it.
    valueTop = min(line, max(lines.count - 1, 0))
  }

  mutating func begin(_ purpose: Input.Purpose, _ text: String) {
    input = Input(purpose: purpose, text: text, before: text)
    if pane == .namespaces { pane = .keys }
  }

  mutating func type(_ key: KeyPress) -> BrowseCommand? {
    guard var line = input else { return nil }
    switch key {
    case .escape, .control("c"), .control("d"):
      input = nil
      if case .filter = line.purpose, line.text != line.before {
        query.filter = line.before
        restart()
      }
      return nil
    case .enter: return finish(line)
    case .backspace:
      guard !line.text.isEmpty else { return nil }
      line.text.removeLast()
    case .control("u"): line.text = ""
    case .control("w"):
      while line.text.last == " " { line.text.removeLast() }
      while let last = line.text.last, last != " " { line.text.removeLast() }
    case .text(let character): line.text.append(character)
    case .paste(let text):
      line.text += text.filter { !$0.unicodeScalars.contains(where: \.isControl) }
    default:
      // The list can be looked through while its filter is typed.
      if case .filter = line.purpose { scroll(key) }
      return nil
    }
    input = line
    if case .filter = line.purpose, query.filter != line.text {
      query.filter = line.text
      restart()
    }
    return nil
  }

  private mutating func finish(_ line: Input) -> BrowseCommand? {
    input = nil
    switch line.purpose {
    case .filter: return nil
    case .find:
      find = line.text
      findNext()
      return nil
    case .expression:
      query.expression = line.text
      restart()
      return nil
    case .expiry(let entries):
      guard !line.text.isEmpty else { return nil }
      return .check(BrowseChange(verb: .expire(line.text), entries: entries))
    }
  }

  /// The list cannot be read: the line that asked for it is open again.
  mutating func refuse(_ error: ShellError) {
    pending = nil
    message = Message(text: error.message + (error.hint.map { "; \($0)" } ?? ""), isError: true)
    if !query.expression.isEmpty, error.code == .badExpression {
      let text = query.expression
      query.expression = ""
      input = Input(purpose: .expression, text: text, before: "")
    }
  }
}
