import Larder
import LarderSystem
import ShellLanguage

enum BrowseRequest: Equatable {
  case leave, suspend, reload
  case copy(Store.Entry)
  case change(BrowseChange)
}

extension BrowseState {
  private static let leaving: Set<KeyPress> = [.text("q"), .escape, .control("c"), .control("d")]

  @discardableResult
  mutating func take(_ key: KeyPress) -> BrowseRequest? {
    message = nil
    if key == .control("z") { return .suspend }
    if isTooSmall { return Self.leaving.contains(key) ? .leave : nil }
    if let question {
      self.question = nil
      if [.text("y"), .text("Y")].contains(key) { return .change(question) }
      message = Message(text: "nothing changed")
      return nil
    }
    if input != nil {
      type(key)
      return nil
    }
    let leaves = Self.leaving.contains(key)
    switch (page, key) {
    case (.help, _):
      // If the page of keys is longer than the window, the movement keys scroll the page. Any other key closes the page.
      if mostTop == 0 || !scroll(key) { (page, helpTop) = (.panes, 0) }
    case (.panes, .escape) where query.isNarrowed || !marks.isEmpty:
      marks = [:]
      if query.isNarrowed {
        (query.filter, query.expression) = ("", "")
        restart()
      }
    case (.panes, _) where leaves: return .leave
    case (_, .text("?")): page = .help
    case (_, .text("y")): return wanted.map { .copy($0) }
    case (.value, _) where leaves, (.value, .left), (.value, .text("h")):
      (page, valueTop) = (.panes, 0)
    case (.value, .text("/")): begin(.find, "")
    case (.value, .text("n")): findNext()
    case (.value, .text(" ")): scroll(.pageDown)
    case (.value, .enter): scroll(.down)
    case (.value, _): scroll(key)
    case (.panes, .tab): pane = neighbor(1) ?? .namespaces
    case (.panes, .backTab): pane = neighbor(-1) ?? .value
    case (.panes, .right), (.panes, .text("l")): pane = neighbor(1) ?? pane
    case (.panes, .left), (.panes, .text("h")): pane = neighbor(-1) ?? pane
    case (.panes, .text("/")): begin(.filter, query.filter)
    case (.panes, .text("w")): begin(.condition, query.expression)
    case (.panes, .text("s")):
      query.order = (query.order + 1) % BrowseQuery.orders.count
      restart()
    case (.panes, .text(" ")):
      isPaused.toggle()
      if !isPaused { refresh() }
    case (.panes, .text("r")): return .reload
    case (.panes, .text("m")):
      guard let entry = wanted else { return nil }
      let id = EntryID(entry)
      marks[id] = marks[id] == nil ? entry : nil
      move(by: 1)
    case (.panes, .text("e")), (.panes, .text("d")), (.panes, .text("p")): change(key)
    case (.panes, .enter) where pane == .namespaces: pane = .keys
    case (.panes, .enter) where wanted != nil: (page, valueTop) = (.value, 0)
    case (.panes, _): scroll(key)
    }
    return nil
  }

  /// The pane at the right (1) or left (-1) of the pane with the focus; nil at the edge of the window.
  private func neighbor(_ step: Int) -> Pane? { Pane(rawValue: pane.rawValue + step) }

  private mutating func change(_ key: KeyPress) {
    let entries = chosen
    switch key {
    case _ where isReadOnly: message = Message(text: "the store is open read-only", isError: true)
    case _ where entries.isEmpty: break
    case .text("e"): begin(.expire, "", entries)
    case .text("p"):
      let arePinned = entries.allSatisfy(\.isPinned)
      question = BrowseChange(verb: arePinned ? .unpin : .pin, entries: entries)
    default: question = BrowseChange(verb: .evict, entries: entries)
    }
  }

  /// The number of lines by which a key moves: `.min` to the first line, `.max` to the last. Nil for a key that does not move.
  private func step(of key: KeyPress) -> Int? {
    switch key {
    case .up, .text("k"), .control("p"): -1
    case .down, .text("j"), .control("n"): 1
    case .pageUp, .control("b"): -pageHeight
    case .pageDown, .control("f"): pageHeight
    case .home, .text("g"): .min
    case .end, .text("G"): .max
    default: nil
    }
  }

  private static func moved(_ index: Int, by step: Int, most: Int) -> Int {
    step == .max ? most : min(max(min(index, most) + step, 0), most)
  }

  /// Moves in the page, or in the pane with the focus. Returns false for a key that does not move.
  @discardableResult
  private mutating func scroll(_ key: KeyPress) -> Bool {
    guard let step = self.step(of: key) else { return false }
    switch (page, pane) {
    case (.help, _): helpTop = Self.moved(helpTop, by: step, most: mostTop)
    case (.value, _), (_, .value): valueTop = Self.moved(valueTop, by: step, most: mostTop)
    case (_, .keys) where step == .min: pending = .top
    case (_, .keys) where step == .max: pending = .bottom
    case (_, .keys): move(by: step)
    case (_, .namespaces):
      let target = Self.moved(namespaceIndex, by: step, most: namespaces.count)
      guard target != namespaceIndex else { break }
      query.namespace = target < namespaces.count ? namespaces[target].name : nil
      restart()
    }
    return true
  }

  /// The selected line of the pane of namespaces. The last line, with the index `namespaces.count`, means all namespaces.
  var namespaceIndex: Int {
    namespaces.firstIndex { $0.name.isExactly(query.namespace) } ?? namespaces.count
  }

  /// Scrolls to the next line that contains the searched text. After the last such line, continues at the first such line.
  private mutating func findNext() {
    guard let lines = value?.lines, !find.isEmpty else { return }
    let wanted = find.lowercased()
    let order = lines.indices.dropFirst(valueTop + 1) + Array(lines.indices.prefix(valueTop + 1))
    if let line = order.first(where: { Frame.plain(lines[$0]).lowercased().contains(wanted) }) {
      valueTop = line
    } else {
      message = Message(text: "not found: \(Array(find.utf8))", isError: true)
    }
  }

  private mutating func begin(
    _ purpose: Input.Purpose, _ text: String, _ entries: [Store.Entry] = []
  ) {
    input = Input(purpose: purpose, text: text, before: text, entries: entries)
    if pane == .namespaces { pane = .keys }
  }

  private mutating func type(_ key: KeyPress) {
    guard var line = input else { return }
    var isOpen = true
    switch key {
    case .escape, .control("c"), .control("d"): (line.text, isOpen) = (line.before, false)
    case .enter where line.purpose == .find:
      (find, isOpen) = (line.text, false)
      findNext()
    case .enter where line.purpose == .condition:
      (query.expression, isOpen) = (line.text, false)
      restart()
    case .enter where line.purpose == .expire && !line.text.isEmpty:
      do throws(ShellError) {
        _ = try Word(Array(line.text.utf8), isBare: false, at: 0..<0).expiryChange(clock())
        question = BrowseChange(verb: .expire, entries: line.entries, time: line.text)
        isOpen = false
      } catch { message = Message(error) }
    case .enter: isOpen = false
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
      if line.purpose == .filter { scroll(key) }
      return
    }
    input = isOpen ? line : nil
    if line.purpose == .filter, query.filter != line.text {
      query.filter = line.text
      restart()
    }
  }

  /// Shows an error that a read of the list has thrown. If the expression is wrong, the person can edit the expression.
  mutating func refuse(_ error: ShellError) {
    pending = nil
    message = Message(error)
    guard !query.expression.isEmpty, error.code == .badExpression else { return }
    input = Input(purpose: .condition, text: query.expression)
    query.expression = ""
  }
}
