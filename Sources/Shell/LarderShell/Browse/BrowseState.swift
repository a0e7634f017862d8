import Larder
import LarderSystem
import ShellLanguage

/// The state of the full-screen view. Extensions handle keys and rows. The state neither reads the store nor draws.
struct BrowseState {
  enum Pane: Int { case namespaces, keys, value }

  /// The raw value is the number of rows of the window that the lines of the page do not use.
  enum Page: Int {
    case panes = 4
    case value = 2
    case help = 3
  }

  struct Row {
    enum Change { case added, changed, removed }

    let entry: Store.Entry
    var change: Change?
    /// The monotonic time at which `change` is no longer shown.
    var fades = Duration.zero

    var id: EntryID { EntryID(entry) }
  }

  enum PageRequest: Equatable {
    case top, bottom
    /// Moves the window down by this number of rows, or up if the number is negative.
    case scroll(Int)
    case refresh
  }

  /// The input line at the bottom of the window.
  struct Input {
    enum Purpose: String {
      case filter
      case condition = "where"
      case find, expire
    }

    let purpose: Purpose
    var text: String
    /// The text before the person began to type. Escape restores this text.
    var before = ""
    /// The entries that `expire` concerns.
    var entries: [Store.Entry] = []
  }

  struct ValueText {
    let entry: Store.Entry
    let width: Int
    /// The facts of the entry, an empty line, and the value.
    let lines: [String]
  }

  struct Message {
    let text: SafeText
    var isError = false
  }

  var size: Host.Window
  let storeName: String
  let isReadOnly: Bool
  let clock: () -> WallClock
  var namespaces: [(name: String, tally: Tally)] = []
  var pane = Pane.keys
  var page = Page.panes
  var query = BrowseQuery()
  /// The rows of the window. The other rows of the list are not in memory.
  var rows: [Row] = []
  var selected = 0
  /// The number of entries before the first row; nil if unknown.
  var firstIndex: Int? = 0
  var total: Int?
  var pending: PageRequest? = .top
  /// The entries that the person has marked. The keys `e`, `d` and `p` change all marked entries.
  var marks: [EntryID: Store.Entry] = [:]
  var value: ValueText?
  var valueTop = 0
  var helpTop = 0
  var find = ""
  var input: Input?
  var question: BrowseChange?
  var isPaused = false
  var message: Message?

  static let smallest = (columns: 40, rows: 10)

  var isTooSmall: Bool { size.columns < Self.smallest.columns || size.rows < Self.smallest.rows }

  /// Whether the window is so narrow that it shows only one pane at a time.
  var showsOnePane: Bool { size.columns < 60 }

  /// The number of lines of a pane.
  var height: Int { max(size.rows - Page.panes.rawValue, 1) }

  var selectedRow: Row? { rows.indices.contains(selected) ? rows[selected] : nil }

  /// The entry whose value the value pane shows; nil for a removed row.
  var wanted: Store.Entry? { selectedRow.flatMap { $0.change == .removed ? nil : $0.entry } }

  /// The entries to which a change applies: the marked entries, or the selected entry if no entry is marked.
  var chosen: [Store.Entry] {
    marks.isEmpty
      ? wanted.map { [$0] } ?? []
      : marks.values.sorted { ($0.namespace, $0.key) < ($1.namespace, $1.key) }
  }

  var tally: Tally { namespaces.reduce(into: Tally()) { $0 += $1.tally } }

  /// The visible panes and their widths.
  var panes: [(pane: Pane, width: Int)] {
    if showsOnePane { return [(pane, size.columns - 2)] }
    let longest = namespaces.map {
      DisplayWidth.of($0.name) + Wording.count($0.tally.entries).count
    }.max()
    let left = min(max((longest ?? 0) + 4, 14), size.columns / 4)
    let right = size.columns * 3 / 10
    return [(.namespaces, left), (.keys, size.columns - left - right - 4), (.value, right)]
  }

  /// The columns of a line of the value; nil if the value is not visible.
  var valueWidth: Int? {
    page == .value
      ? max(size.columns, 1) : panes.first { $0.pane == .value }.map { max($0.width - 1, 1) }
  }

  /// The number of lines of the page, or of a pane.
  var pageHeight: Int { max(size.rows - page.rawValue, 1) }

  /// The largest `helpTop` on the page of keys, and the largest `valueTop` elsewhere.
  var mostTop: Int {
    max((page == .help ? helpRows.count : value?.lines.count ?? 0) - pageHeight, 0)
  }
}

extension BrowseState.ValueText {
  /// The most bytes of a value that the view reads. `get --full` shows all bytes.
  private static let mostBytes = 4_000_000

  /// Reads the value of an entry as lines of at most `width` columns. Nil if the entry no longer exists.
  init?(
    _ entry: Store.Entry, width: Int, isWhole: Bool, in session: Session,
    for presentation: Presentation
  ) throws {
    self.entry = entry
    self.width = width
    var (found, size, text) = (entry, entry.size, "")
    do {
      let value = try ShellError.translating {
        try session.store.namespace(entry.namespace).withEntry(for: entry.key) { entry, value in
          StoredValue(entry: entry, bytes: value.extracting(first: Self.mostBytes).bytes)
        }?.reading(most: Self.mostBytes, in: session)
      }
      guard let value else { return nil }
      (found, size) = (value.entry, value.size)
      if found.hasValue {
        let isFull = isWhole && size <= Self.mostBytes
        let view = try ValueView(value, as: .auto, head: nil, isFull: isFull)
        text = String(decoding: view.content(for: presentation), as: UTF8.self)
      } else {
        text =
          found.state == .expired
          ? "expired: a read finds no value\n" : "negative: a load found no value\n"
      }
    } catch let error as ShellError where error.code == .unreadable {
      text = "\(error.message)\n"
    }
    let isDim = presentation.hasColor && !isWhole
    let facts = Self.facts(found, size, presentation.clock)
      .map { isDim ? "\(Color.dim.on)\($0)\(Color.off)" : $0 }
    let shown = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .map(String.init)
    lines = (facts + shown).flatMap { Self.wrapped($0, width) }
  }

  private static func facts(_ entry: Store.Entry, _ size: Int, _ clock: WallClock) -> [String] {
    let state = entry.state == .stale ? "stale, " : ""
    var facts = [
      "\(Wording.size(size))  written \(clock.distance(to: entry.written.unix))",
      entry.expires.map { "\(state)expires \(clock.distance(to: $0.unix))" } ?? "never expires",
      "version \(entry.version)  codec \(entry.codec.name)\(entry.isPinned ? "  pinned" : "")",
    ]
    let tags = entry.tags.map { SafeText($0).description }.joined(separator: ", ")
    if !tags.isEmpty { facts.append("tags \(tags)") }
    return facts + [""]
  }

  /// Wraps at spaces, and splits long words. The sequence of a color takes no columns. A color continues on the next line.
  private static func wrapped(_ text: String, _ width: Int) -> [String] {
    let cells = Frame.cells(of: text)
    var lines: [String] = []
    var start = 0
    for index in cells.indices {
      let isSpace = cells[index].text == " "
      let rest = cells[(index + 1)...]
      // After a space, the line must have room for the next word, or for a part of a long word. A wide character has two cells.
      var room = rest.first?.text == "" ? 1 : 0
      if isSpace { room = min(rest.prefix { $0.text != " " }.count, width / 2) }
      guard index - start + 1 + room > width else { continue }
      lines.append(Frame.text(of: cells[start..<index]))
      start = isSpace ? index + 1 : index
    }
    return lines + [Frame.text(of: cells[start...])]
  }
}

extension BrowseState.Message {
  init(_ error: ShellError) {
    text = error.message + (error.hint.map { "; \($0)" } ?? "")
    isError = true
  }
}

struct BrowseChange: Equatable {
  enum Verb: String { case evict, pin, unpin, expire }

  let verb: Verb
  let entries: [Store.Entry]
  /// The time that `expire` gets as its argument; nil for the other verbs.
  var time: String?

  /// The question of the command for several entries, such as `Evict 3 entries (107 B) in departures, such as "a", "b", "c"?`
  var question: SafeText {
    var summary = ChangeSummary(time.map { "expire at \($0):" } ?? verb.rawValue)
    for entry in entries { summary.add(entry) }
    return Confirmation.question(summary)
  }

  /// The command of the change, for all namespaces of the entries, with `--yes`, because the person has already confirmed.
  /// In several namespaces, `Session.chosen` excludes the other entries with these keys.
  func command() throws -> CommandLine {
    let namespaces = Set(entries.map { ExactString($0.namespace) }).map(\.string).sorted()
    let time = time.map { [Array($0.utf8)] } ?? []
    return try CommandReader.command(
      verb.rawValue, in: namespaces, options: ["--yes"], data: entries.map(\.key.bytes) + time)
  }
}

struct EntryID: Hashable {
  let namespace: ExactString
  let key: [UInt8]

  init(_ namespace: String, _ key: [UInt8] = []) {
    self.namespace = ExactString(namespace)
    self.key = key
  }

  init(_ entry: Store.Entry) { self.init(entry.namespace, entry.key.bytes) }
}
