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

  mutating func scroll(_ key: KeyPress) {
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
}
