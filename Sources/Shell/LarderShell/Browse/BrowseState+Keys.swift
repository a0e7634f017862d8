import Larder
import ShellLanguage

enum BrowseRequest: Equatable {
  case leave, suspend, reload
  case copy(Store.Entry)
  /// Checks the new expiry of the change, and then asks the person for confirmation.
  case ask(BrowseChange)
  case change(BrowseChange)
}

extension BrowseState {
  private static let leaving: Set<KeyPress> = [.text("q"), .escape, .control("c"), .control("d")]

  @discardableResult
  mutating func take(_ key: KeyPress) -> BrowseRequest? {
    message = nil
    if key == .control("z") { return .suspend }
    if isTooSmall { return Self.leaving.contains(key) ? .leave : nil }
    if question != nil { return answer(key) }
    if input != nil { return type(key) }
    switch page {
    case .help:
      // If the page of keys is longer than the window, the movement keys scroll the page. Any other key closes the page.
      if mostHelpTop > 0, scroll(\.helpTop, key, page: helpHeight, most: mostHelpTop) { return nil }
      (page, helpTop) = (.panes, 0)
      return nil
    case .value: return takeInValue(key)
    case .panes: return takeInPanes(key)
    }
  }

  private mutating func answer(_ key: KeyPress) -> BrowseRequest? {
    defer { question = nil }
    if let question, key == .text("y") || key == .text("Y") { return .change(question) }
    message = Message(text: "nothing changed")
    return nil
  }

  private mutating func takeInPanes(_ key: KeyPress) -> BrowseRequest? {
    switch key {
    case .escape where query.isNarrowed || !marks.isEmpty:
      marks = [:]
      if query.isNarrowed {
        (query.filter, query.expression) = ("", "")
        restart()
      }
    case _ where Self.leaving.contains(key): return .leave
    case .tab: turn(by: 1, wraps: true)
    case .backTab: turn(by: -1, wraps: true)
    case .right, .text("l"): turn(by: 1)
    case .left, .text("h"): turn(by: -1)
    case .text("?"): page = .help
    case .text("/"): begin(.filter, query.filter)
    case .text("w"): begin(.expression, query.expression)
    case .text("s"):
      query.order = (query.order + 1) % BrowseQuery.orders.count
      restart()
    case .text(" "):
      isPaused.toggle()
      if !isPaused { refresh() }
    case .text("r"): return .reload
    case .text("m"):
      guard let entry = wanted else { return nil }
      let id = EntryID(entry)
      marks[id] = marks[id] == nil ? entry : nil
      move(by: 1)
    case .text("y"): return wanted.map { .copy($0) }
    case .text("e"), .text("d"), .text("p"): change(key)
    case .enter where pane == .namespaces: pane = .keys
    case .enter where wanted != nil: (page, valueTop) = (.value, 0)
    default: scrollPane(key)
    }
    return nil
  }

  private mutating func takeInValue(_ key: KeyPress) -> BrowseRequest? {
    switch key {
    case _ where Self.leaving.contains(key), .left, .text("h"): (page, valueTop) = (.panes, 0)
    case .text("/"): begin(.find, "")
    case .text("n"): findNext()
    case .text("y"): return wanted.map { .copy($0) }
    case .text("?"): page = .help
    case .text(" "): scrollValue(.pageDown)
    case .enter: scrollValue(.down)
    default: scrollValue(key)
    }
    return nil
  }

  private mutating func turn(by step: Int, wraps: Bool = false) {
    let panes = Pane.allCases
    let target = panes.firstIndex(of: pane)! + step
    pane =
      panes[wraps ? (target + panes.count) % panes.count : min(max(target, 0), panes.count - 1)]
  }

  private mutating func change(_ key: KeyPress) {
    guard !isReadOnly else {
      message = Message(text: "the store is open read-only", isError: true)
      return
    }
    let entries = chosen
    guard !entries.isEmpty else { return }
    switch key {
    case .text("e"): begin(.expiry(entries), "")
    case .text("p"):
      let arePinned = entries.allSatisfy(\.isPinned)
      question = BrowseChange(verb: arePinned ? .unpin : .pin, entries: entries)
    default: question = BrowseChange(verb: .evict, entries: entries)
    }
  }

  /// The number of lines by which a key moves: `.min` to the first line, `.max` to the last. Nil for a key that does not move.
  private static func steps(of key: KeyPress, page: Int) -> Int? {
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

  /// Scrolls a text. Returns false for a key that does not move.
  @discardableResult
  private mutating func scroll(
    _ top: WritableKeyPath<Self, Int>, _ key: KeyPress, page: Int, most: Int
  ) -> Bool {
    guard let step = Self.steps(of: key, page: page) else { return false }
    self[keyPath: top] = Self.moved(self[keyPath: top], by: step, most: most)
    return true
  }

  private static func moved(_ index: Int, by step: Int, most: Int) -> Int {
    step == .min ? 0 : step == .max ? most : min(max(min(index, most) + step, 0), most)
  }

  private mutating func scrollValue(_ key: KeyPress) {
    scroll(\.valueTop, key, page: valueHeight, most: mostValueTop)
  }

  mutating func scrollPane(_ key: KeyPress) {
    switch pane {
    case .value: scrollValue(key)
    case .keys:
      guard let step = Self.steps(of: key, page: height) else { return }
      switch step {
      case .min: pending = .top
      case .max: pending = .bottom
      default: move(by: step)
      }
    case .namespaces:
      guard let step = Self.steps(of: key, page: height) else { return }
      // The last line of the pane means all namespaces, so the index of this line is the number of namespaces.
      let present = namespaces.firstIndex { $0.name == query.namespace } ?? namespaces.count
      let target = Self.moved(present, by: step, most: namespaces.count)
      guard target != present else { return }
      query.namespace = target < namespaces.count ? namespaces[target].name : nil
      restart()
    }
  }

  /// Scrolls to the next line that contains the searched text. After the last such line, continues at the first such line.
  private mutating func findNext() {
    guard let lines = value?.all, !find.isEmpty else { return }
    let wanted = find.lowercased()
    let order = lines.indices.dropFirst(valueTop + 1) + Array(lines.indices.prefix(valueTop + 1))
    if let line = order.first(where: { Frame.plain(lines[$0]).lowercased().contains(wanted) }) {
      valueTop = line
    } else {
      message = Message(text: "not found: \(Array(find.utf8))", isError: true)
    }
  }

  private mutating func begin(_ purpose: Input.Purpose, _ text: String) {
    input = Input(purpose: purpose, text: text, before: text)
    if pane == .namespaces { pane = .keys }
  }

  private mutating func type(_ key: KeyPress) -> BrowseRequest? {
    guard var line = input else { return nil }
    switch key {
    case .escape, .control("c"), .control("d"):
      input = nil
      setFilter(line.before, of: line)
      return nil
    case .enter:
      input = nil
      return finish(line)
    case .backspace: _ = line.text.popLast()
    case .control("u"): line.text = ""
    case .control("w"):
      while line.text.last == " " { line.text.removeLast() }
      while let last = line.text.last, last != " " { line.text.removeLast() }
    case .text(let character): line.text.append(character)
    case .paste(let text):
      line.text += text.filter { !$0.unicodeScalars.contains(where: \.isControl) }
    default:
      // While a person types a filter, the arrow keys still move through the list.
      if line.purpose == .filter { scrollPane(key) }
      return nil
    }
    input = line
    setFilter(line.text, of: line)
    return nil
  }

  private mutating func setFilter(_ text: String, of line: Input) {
    guard line.purpose == .filter, query.filter != text else { return }
    query.filter = text
    restart()
  }

  private mutating func finish(_ line: Input) -> BrowseRequest? {
    switch line.purpose {
    case .filter: break
    case .find:
      find = line.text
      findNext()
    case .expression:
      query.expression = line.text
      restart()
    case .expiry(let entries):
      guard !line.text.isEmpty else { return nil }
      return .ask(BrowseChange(verb: .expire, entries: entries, time: line.text))
    }
    return nil
  }

  /// Shows an error that a read of the list has thrown. If the expression is wrong, opens its input line again.
  mutating func refuse(_ error: ShellError) {
    pending = nil
    message = Message(error)
    guard !query.expression.isEmpty, error.code == .badExpression else { return }
    input = Input(purpose: .expression, text: query.expression, before: "")
    query.expression = ""
  }
}
