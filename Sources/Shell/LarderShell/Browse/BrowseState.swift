import Larder
import LarderSystem
import ShellLanguage

/// The state of the full-screen view. Extensions handle keys and rows. The state neither reads the store nor draws.
struct BrowseState: Equatable {
  enum Pane: CaseIterable { case namespaces, keys, value }

  enum Page { case panes, value, help }

  struct NamespaceRow: Equatable {
    let name: String
    let entries: Int
    let bytes: Int
  }

  struct Row: Equatable {
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
  struct Input: Equatable {
    enum Purpose: Equatable {
      case filter, expression, find
      case expiry([Store.Entry])
    }

    let purpose: Purpose
    var text: String
    /// The text before the person began to type. Escape restores this text.
    let before: String
  }

  struct ValueText: Equatable {
    let entry: Store.Entry
    let width: Int
    let isWhole: Bool
    let facts: [String]
    let lines: [String]
  }

  struct Message: Equatable {
    let text: SafeText
    var isError = false
  }

  var size: Host.Window
  let storeName: String
  let isReadOnly: Bool
  var namespaces: [NamespaceRow] = []
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

  static let smallest = Host.Window(columns: 40, rows: 10)
  /// A window with fewer columns than this number shows only one pane at a time.
  private static let narrowest = 60

  var isTooSmall: Bool { size.columns < Self.smallest.columns || size.rows < Self.smallest.rows }

  var showsOnePane: Bool { size.columns < Self.narrowest }

  var height: Int { max(size.rows - 4, 1) }

  var selectedRow: Row? { rows.indices.contains(selected) ? rows[selected] : nil }

  /// The entry whose value the value pane shows; nil for a removed row.
  var wanted: Store.Entry? { selectedRow.flatMap { $0.change == .removed ? nil : $0.entry } }

  /// The entries to which a change applies: the marked entries, or the selected entry if no entry is marked.
  var chosen: [Store.Entry] {
    marks.isEmpty
      ? wanted.map { [$0] } ?? []
      : marks.values.sorted { ($0.namespace, $0.key) < ($1.namespace, $1.key) }
  }

  var widths: (namespaces: Int, keys: Int, value: Int) {
    guard !showsOnePane else {
      let width = size.columns - 2
      return (width, width, width)
    }
    let longest = namespaces.map { DisplayWidth.of($0.name) + Wording.count($0.entries).count }
      .max()
    let left = min(max((longest ?? 0) + 4, 14), size.columns / 4)
    let right = size.columns * 3 / 10
    return (left, size.columns - left - right - 4, right)
  }

  var valueWidth: Int { page == .value ? size.columns : widths.value }

  var valueHeight: Int { page == .value ? size.rows - 2 : height }

  var mostValueTop: Int { max((value?.all.count ?? 0) - valueHeight, 0) }

  var helpHeight: Int { max(size.rows - 3, 1) }

  var mostHelpTop: Int { max(helpRows.count - helpHeight, 0) }
}

extension BrowseState.ValueText {
  var all: [String] { facts + lines }

  /// The most bytes of a value that the view reads. `get --full` shows all bytes.
  private static let mostBytes = 4_000_000

  /// Reads the value of an entry as lines of at most `width` columns. Nil if the entry no longer exists.
  init?(
    _ entry: Store.Entry, width: Int, isWhole: Bool, in session: Session,
    for presentation: Presentation
  ) throws {
    let namespace = session.store.namespace(entry.namespace)
    guard try namespace.info() != nil else { return nil }
    self.entry = entry
    self.width = width
    self.isWhole = isWhole
    let clock = presentation.clock
    do {
      let found = try namespace.withEntry(for: entry.key) { entry, value in
        StoredValue(entry: entry, bytes: value.extracting(first: Self.mostBytes).bytes)
      }?.reading(most: Self.mostBytes, in: session)
      guard let found else { return nil }
      var text = "negative: a load found no value\n"
      if found.entry.hasValue {
        let isFull = isWhole && found.size <= Self.mostBytes
        let view = try ValueView(found, as: .auto, head: nil, isFull: isFull)
        text = String(decoding: view.content(for: presentation), as: UTF8.self)
      }
      facts = Self.facts(found.entry, found.size, clock).flatMap { Self.wrapped($0, width) }
      lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        .flatMap { Self.wrapped(String($0), width) }
    } catch {
      guard let message = Self.unreadable(error) else { throw error }
      facts = Self.facts(entry, entry.size, clock).flatMap { Self.wrapped($0, width) }
      lines = Self.wrapped(message.description, width)
    }
  }

  /// The reason why this program cannot read a value; nil for errors of other kinds.
  private static func unreadable(_ error: any Error) -> SafeText? {
    let error = (error as? LarderError).map { ShellError($0) } ?? error as? ShellError
    return error?.code == .unreadable ? error?.message : nil
  }

  private static func facts(_ entry: Store.Entry, _ size: Int, _ clock: WallClock) -> [String] {
    let state = entry.state == .stale ? "stale, " : ""
    var facts = [
      "\(Wording.size(size))  written \(clock.distance(to: entry.written.unix))",
      entry.expires == nil
        ? "never expires" : "\(state)expires \(clock.distance(to: entry.expires!.unix))",
      "version \(entry.version)  codec \(entry.codec.name)\(entry.isPinned ? "  pinned" : "")",
    ]
    if !entry.tags.isEmpty {
      facts.append("tags " + entry.tags.map { SafeText($0).description }.joined(separator: ", "))
    }
    return facts + [""]
  }

  /// Wraps at spaces, and splits long words. The sequence of a color takes no columns. A color continues on the next line.
  private static func wrapped(_ text: String, _ width: Int) -> [String] {
    let width = max(width, 1)
    guard DisplayWidth.of(Frame.plain(text)) > width else { return [text] }
    var lines: [String] = []
    var (line, used, rendition) = ("", 0, "")
    var scalars = text.unicodeScalars[...]
    while let scalar = scalars.popFirst() {
      if scalar == "\u{1B}", let numbers = Frame.takeRendition(&scalars) {
        rendition = numbers == "0" ? "" : "\u{1B}[\(numbers)m"
        line += "\u{1B}[\(numbers)m"
        continue
      }
      let columns = DisplayWidth.of(scalar)
      // After a space, the line must have room for the next word, or for a part of a long word.
      var room = 0
      if scalar == " " {
        let word = Frame.plain(String(Substring(scalars.prefix { $0 != " " })))
        room = min(DisplayWidth.of(word), width / 2)
      }
      if used + columns + room > width {
        lines.append(line)
        (line, used) = (rendition, 0)
        if scalar == " " { continue }
      }
      line.unicodeScalars.append(scalar)
      used += columns
    }
    return lines + [line]
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

  func check(_ clock: WallClock) throws(ShellError) {
    guard let time else { return }
    _ = try Word(Array(time.utf8), isBare: false, at: 0..<0).expiryChange(clock)
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
