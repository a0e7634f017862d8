import Larder
import ShellLanguage

/// A request of a key to the loop of the full-screen view.
enum BrowseCommand: Equatable {
  case leave, suspend, reload
  case copy(Store.Entry)
  /// Check the words of a change before the question.
  case check(BrowseChange)
  case change(BrowseChange)
}

/// The answers to keys.
extension BrowseState {
  @discardableResult
  mutating func take(_ key: KeyPress) -> BrowseCommand? {
    message = nil
    if key == .control("z") { return .suspend }
    if isTooSmall {
      return [.text("q"), .escape, .control("c"), .control("d")].contains(key) ? .leave : nil
    }
    if question != nil { return answer(key) }
    if input != nil { return type(key) }
    switch page {
    case .help:
      takeInHelp(key)
      return nil
    case .value: return takeInValue(key)
    case .panes: return takeInPanes(key)
    }
  }

  /// Arrows scroll a page of keys that is longer than the window; everything else goes back.
  private mutating func takeInHelp(_ key: KeyPress) {
    if mostHelpTop > 0, let step = steps(of: key, page: helpHeight) {
      let top = min(helpTop, mostHelpTop)
      helpTop =
        step == .min
        ? 0 : step == .max ? mostHelpTop : min(max(top + step, 0), mostHelpTop)
    } else {
      page = .panes
      helpTop = 0
    }
  }

  private mutating func answer(_ key: KeyPress) -> BrowseCommand? {
    guard let change = question else { return nil }
    question = nil
    if key == .text("y") || key == .text("Y") { return .change(change) }
    message = Message(text: "nothing changed")
    return nil
  }

  // MARK: The panes

  private mutating func takeInPanes(_ key: KeyPress) -> BrowseCommand? {
    switch key {
    case .text("q"), .control("c"), .control("d"): return .leave
    case .escape: return goBack()
    case .tab: turn(to: [.namespaces: .keys, .keys: .value, .value: .namespaces])
    case .backTab: turn(to: [.namespaces: .value, .keys: .namespaces, .value: .keys])
    case .right, .text("l"): turn(to: [.namespaces: .keys, .keys: .value])
    case .left, .text("h"): turn(to: [.value: .keys, .keys: .namespaces])
    case .text("?"): page = .help
    case .text("/"): begin(.filter, query.filter)
    case .text("w"): begin(.expression, query.expression)
    case .text("s"):
      query.order = query.order.next
      restart()
    case .text(" "):
      isPaused.toggle()
      if !isPaused { pending = pending ?? .refresh }
    case .text("r"): return .reload
    case .text("m"): mark()
    case .text("y"): return wanted.map { .copy($0) }
    case .text("e"), .text("d"), .text("p"): return change(key)
    case .enter where pane == .namespaces: pane = .keys
    case .enter where wanted != nil:
      page = .value
      valueTop = 0
    default: scroll(key)
    }
    return nil
  }

  private mutating func goBack() -> BrowseCommand? {
    guard query.isNarrowed || !marks.isEmpty else { return .leave }
    marks = [:]
    if query.isNarrowed {
      (query.filter, query.expression) = ("", "")
      restart()
    }
    return nil
  }

  private mutating func turn(to panes: [Pane: Pane]) { pane = panes[pane] ?? pane }

  private mutating func scroll(_ key: KeyPress) {
    guard let step = steps(of: key, page: height) else { return }
    switch pane {
    case .keys:
      switch step {
      case .min: pending = .top
      case .max: pending = .bottom
      default: move(by: step)
      }
    case .namespaces: chooseNamespace(step)
    case .value: scrollValue(step)
    }
  }

  /// The lines that a key moves by; the extremes stand for the first and the last line.
  private func steps(of key: KeyPress, page: Int) -> Int? {
    switch key {
    case .up, .text("k"), .control("p"): -1
    case .down, .text("j"), .control("n"): 1
    case .pageUp, .control("b"): -page
    case .pageDown, .control("f"): page
    case .home, .text("g"): .min
    case .end, .text("G"): .max
    default: nil
    }
  }

  /// The last line of the namespaces stands for all of them.
  private mutating func chooseNamespace(_ step: Int) {
    let present = namespaces.firstIndex { $0.name == query.namespace } ?? namespaces.count
    let target = min(
      max(step == .min ? 0 : step == .max ? .max : present + step, 0), namespaces.count)
    guard target != present else { return }
    query.namespace = target < namespaces.count ? namespaces[target].name : nil
    restart()
  }

  private mutating func scrollValue(_ step: Int) {
    valueTop =
      step == .min
      ? 0 : step == .max ? mostValueTop : min(max(valueTop + step, 0), mostValueTop)
  }

  private mutating func mark() {
    guard let entry = wanted else { return }
    let id = EntryID(entry)
    marks[id] = marks[id] == nil ? entry : nil
    move(by: 1)
  }

  private mutating func change(_ key: KeyPress) -> BrowseCommand? {
    guard !isReadOnly else {
      message = Message(text: "the store is open read-only", isError: true)
      return nil
    }
    let entries = chosen
    guard !entries.isEmpty else { return nil }
    switch key {
    case .text("e"):
      input = Input(purpose: .expiry(entries), text: "", before: "")
      return nil
    case .text("p"):
      let arePinned = entries.allSatisfy(\.isPinned)
      question = BrowseChange(verb: arePinned ? .unpin : .pin, entries: entries)
      return nil
    default:
      question = BrowseChange(verb: .evict, entries: entries)
      return nil
    }
  }

  // MARK: The value

  private mutating func takeInValue(_ key: KeyPress) -> BrowseCommand? {
    switch key {
    case .text("q"), .escape, .control("c"), .control("d"), .left, .text("h"):
      page = .panes
      valueTop = 0
    case .text("/"): begin(.find, "")
    case .text("n"): findNext()
    case .text("y"): return wanted.map { .copy($0) }
    case .text("?"): page = .help
    case .text(" "): scrollValue(valueHeight)
    case .enter: scrollValue(1)
    default: if let step = steps(of: key, page: valueHeight) { scrollValue(step) }
    }
    return nil
  }

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

  // MARK: The line at the bottom

  private mutating func begin(_ purpose: Input.Purpose, _ text: String) {
    input = Input(purpose: purpose, text: text, before: text)
    if pane == .namespaces { pane = .keys }
  }

  private mutating func type(_ key: KeyPress) -> BrowseCommand? {
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
