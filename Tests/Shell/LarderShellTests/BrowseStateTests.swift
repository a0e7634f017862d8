import TestSupport
import Testing

@testable import Larder
@testable import LarderShell
@testable import ShellLanguage

/// An entry of the namespace "a" that is in no store.
func browsedEntry(_ key: some StoreKey, size: Int = 0, version: UInt64 = 1) -> Store.Entry {
  Store.Entry(
    namespace: "a", key: Key(key), size: size, storedSize: size, valueSize: size,
    written: Timestamp(milliseconds: 0), lastUsed: nil, expires: nil, staleUntil: nil,
    timeToIdle: nil, state: .fresh, codec: .text, version: version, isPinned: false,
    isNegative: false, owners: [], tags: [], entityTag: nil, lastModified: nil, metadata: nil,
    transforms: [])
}

/// Entries with keys of two digits, as rows.
func browsed(_ numbers: some Sequence<Int>, version: UInt64 = 1) -> [Store.Entry] {
  numbers.map { number in
    browsedEntry(number < 10 ? "0\(number)" : "\(number)", size: number, version: version)
  }
}

/// A view that shows the first six of a hundred entries.
func browseState(rows: Int = 10, columns: Int = 80, isReadOnly: Bool = false) -> BrowseState {
  var state = BrowseState(
    size: (columns: columns, rows: rows), storeName: "store", isReadOnly: isReadOnly,
    clock: { stockholm })
  state.namespaces = [
    ("a", Tally(entries: 100, bytes: 4950)), ("b", Tally(entries: 1, bytes: 2)),
  ]
  state.query.namespace = "a"
  state.show(browsed(0..<state.height), for: .top)
  state.total = 100
  return state
}

extension BrowseState {
  @discardableResult mutating func take(_ keys: KeyPress...) -> BrowseRequest? {
    var command: BrowseRequest?
    for key in keys { command = take(key) }
    return command
  }

  mutating func type(_ text: String) { for character in text { _ = take(.text(character)) } }

  fileprivate var keys: [String] {
    rows.map { String(decoding: $0.entry.key.bytes, as: UTF8.self) }
  }
}

@Suite struct BrowseStateTests {
  @Test func `moving within the window reads nothing`() {
    var state = with(browseState()) { $0.pending = nil }
    state.take(.down, .text("j"), .down, .up)
    #expect(state.selected == 2 && state.pending == nil)
    state.take(.text("k"), .up, .up)
    #expect(state.pending == .scroll(-1))
  }

  @Test func `the window follows the selected row`() {
    var state = browseState()
    for _ in 0..<6 { state.take(.down) }
    #expect(state.pending == .scroll(1))
    // Both keys arrive in one read, because a person may type faster than the view reads.
    state.take(.down, .down)
    #expect(state.pending == .scroll(3))
    state.take(.up)
    #expect(state.pending == .scroll(2))
    state.show(browsed(6..<8), for: .scroll(2))
    #expect(state.keys == ["02", "03", "04", "05", "06", "07"])
    #expect(state.selected == 5 && state.firstIndex == 2)
    state.take(.pageUp)
    #expect(state.pending == .scroll(-1))
    state.show(browsed(1..<2), for: .scroll(-1))
    #expect(state.keys.first == "01" && state.selected == 0 && state.firstIndex == 1)
    state.take(.end)
    #expect(state.pending == .bottom)
    state.show(browsed(94..<100), for: .bottom)
    #expect(state.selected == 5 && state.firstIndex == 94)
    state.take(.pageDown)
    state.show([], for: .scroll(6))
    #expect(state.selected == 5 && state.firstIndex == 94)
  }

  @Test func `changes are marked for a moment`() {
    var state = browseState()
    state.take(.down)
    var new = browsed([0, 1, 2, 4, 5])
    new.insert(contentsOf: browsed([3], version: 2), at: 3)
    state.show(new, for: .refresh, at: .seconds(1))
    #expect(state.rows.map(\.change) == [nil, nil, nil, .changed, nil, nil])
    #expect(state.selectedRow?.id == EntryID(browsed([1])[0]))
    // The row of a removed entry stays in its place, but no command of the view can change this entry.
    state.show(
      browsed([0, 2]) + browsed([3], version: 2) + browsed([4, 5, 6]), for: .refresh,
      removed: [EntryID(browsed([1])[0])], at: .seconds(2))
    #expect(state.keys == ["00", "01", "02", "03", "04", "05"])
    #expect(state.rows.map(\.change) == [nil, .removed, nil, .changed, nil, nil])
    // The selected entry was removed, so the selection moves to the next entry that exists.
    #expect(state.selected == 2 && state.wanted?.key == Key("02"))
    let result1 = state.fade(at: .seconds(3))
    #expect(!result1)
    #expect(state.rows.map(\.change) == [nil, .removed, nil, nil, nil, nil])
    let result2 = state.fade(at: .seconds(4))
    #expect(result2)
    #expect(state.keys == ["00", "02", "03", "04", "05"])
  }

  @Test func `after removed rows the next row is selected`() {
    var state = browseState()
    let removed = Set(browsed(0..<2).map { EntryID($0) })
    state.show(browsed(2..<6), for: .refresh, removed: removed)
    state.take(.up)
    let isShorter = state.fade(at: .seconds(2))
    #expect(isShorter && state.keys.first == "02" && state.selected == 0)
  }

  @Test func `an entry written since is new`() {
    var state = browseState()
    var new = browsed(0..<6)
    new[3] = browsed([60])[0]
    state.show(new, for: .refresh, since: Timestamp(milliseconds: 1))
    #expect(state.rows[3].change == nil)
    state.show(browsed(0..<6), for: .top)
    state.show(new, for: .refresh, since: Timestamp(milliseconds: 0))
    #expect(state.rows[3].change == .added)
  }

  @Test func `a filter is typed and taken back`() {
    var state = browseState()
    state.take(.text("/"))
    state.type("us")
    #expect(state.query.filter == "us" && state.pending == .top && state.total == nil)
    state.take(.backspace)
    #expect(state.query.filter == "u")
    state.take(.paste("ser/*\u{1B}[A"))
    #expect(state.query.filter == "user/*[A")
    state.take(.control("u"))
    state.type("e\u{301}x")
    state.take(.backspace, .backspace)
    #expect(state.query.filter == "")
    state.type("a b")
    state.take(.enter)
    #expect(state.input == nil && state.query.filter == "a b")
    state.take(.text("/"))
    state.type("c")
    state.take(.escape)
    #expect(state.query.filter == "a b")
    let result3 = state.take(.escape)
    #expect(result3 == nil)
    #expect(!state.query.isNarrowed)
    let result4 = state.take(.escape)
    #expect(result4 == .leave)
  }

  @Test func `a change in a namespace that is called like a pattern stays in it`() throws {
    let shell = try Shell(.plain)
    for name in ["*", "a*", "web"] { try shell.store.namespace(name).set("x", for: "k") }
    for (name, left) in [("*", [0, 1, 1]), ("a*", [0, 0, 1])] {
      let entry = try #require(try shell.store.namespace(name).entry(for: "k"))
      _ = try shell.session.run(BrowseChange(verb: .evict, entries: [entry]).command())
      #expect(try shell.store.namespaces().map(\.entries) == left)
    }
  }

  @Test func `the list goes on in the next namespace, also after other spellings`() throws {
    let shell = try Shell()
    for name in ["cafe\u{301}", "caf\u{E9}", "cafz"] {
      try shell.store.namespace(name).set("v", for: "k")
    }
    let list = try BrowseList(BrowseQuery(), of: shell.session)
    let rows = try list.rows(9)
    let ids = rows.map { EntryID($0) }
    #expect(ids.count == 3)
    for (index, row) in rows.enumerated() {
      #expect(try list.rows(9, from: row).map { EntryID($0) } == Array(ids.dropFirst(index + 1)))
      #expect(try list.rows(-9, from: row).map { EntryID($0) } == Array(ids.prefix(index)))
    }
  }

  @Test func `a store that is read only is not changed`() {
    var state = browseState(isReadOnly: true)
    for key in "edp" {
      let result7 = state.take(.text(key))
      #expect(result7 == nil)
      #expect(state.question == nil && state.input == nil && state.message?.isError == true)
    }
  }

  @Test func `keys leave or go back`() {
    for key in [KeyPress.text("q"), .control("c"), .control("d"), .escape] {
      var state = browseState()
      let result8 = state.take(key)
      #expect(result8 == .leave)
      state.take(.enter)
      #expect(state.page == .value)
      let result9 = state.take(key)
      #expect(result9 == nil && state.page == .panes)
      state.take(.text("?"))
      let result10 = state.take(key)
      #expect(result10 == nil && state.page == .panes)
    }
    var state = browseState()
    let result11 = state.take(.control("z"))
    #expect(result11 == .suspend)
    // While a person types a line, `q` is a letter and does not close the view.
    state.take(.text("/"), .text("q"))
    #expect(state.query.filter == "q")
    let result12 = state.take(.control("c"))
    #expect(result12 == nil && state.query.filter == "")
  }

  @Test func `the namespace is chosen in its pane`() {
    var state = browseState()
    state.take(.text("h"), .down)
    #expect(state.query.namespace == "b" && state.pending == .top)
    state.take(.down, .down)
    #expect(state.query.namespace == nil)
    state.take(.home)
    #expect(state.query.namespace == "a")
    state.take(.enter)
    #expect(state.pane == .keys)
    state.take(.tab, .tab, .tab, .backTab)
    #expect(state.pane == .namespaces)
  }

  @Test func `two spellings of a name are two namespaces in their pane`() {
    var state = browseState()
    state.namespaces = ["cafe\u{301}", "caf\u{E9}"].map { ($0, Tally()) }
    state.query.namespace = "cafe\u{301}"
    let first = state.query
    state.take(.text("h"), .down)
    #expect(state.namespaceIndex == 1 && state.query != first)
  }

  @Test func `orders follow each other`() {
    var state = browseState()
    let orders = (0..<5).map { _ in
      state.take(.text("s"))
      return BrowseQuery.orders[state.query.order].name
    }
    #expect(orders == ["size", "expiry", "written", "used", "key"])
  }

  @Test(arguments: TestSettings.seeds(corpus: 60))
  func `any keys keep the window in order`(seed: UInt64) {
    var rng = SeededRNG(seed: seed)
    var state = browseState(rows: Int.random(in: 5...14, using: &rng))
    let keys: [KeyPress] =
      [
        .up, .down, .left, .right, .pageUp, .pageDown, .home, .end, .tab, .backTab, .enter, .escape,
        .backspace,
      ]
      + "hjklgGsmpedy/wn?r \u{301}x*[".map { .text($0) }
    for _ in 0..<300 {
      guard let key = keys.randomElement(using: &rng) else { break }
      _ = state.take(key)
      if let request = state.pending, Bool.random(using: &rng) {
        let all = Array(0..<Int.random(in: 0...30, using: &rng))
        let count = Int.random(in: 0...all.count, using: &rng)
        state.show(browsed(all.prefix(count)), for: request, at: .seconds(1))
      }
      #expect(
        state.rows.isEmpty ? state.selected == 0 : state.rows.indices.contains(state.selected))
      #expect(state.rows.count <= max(state.height, 30))
      let frame = BrowseScreen(
        state, for: Presentation(.table, isTerminal: true, clock: stockholm)
      ).frame
      #expect(frame.rows == state.size.rows)
    }
  }
}
