import Larder
import ShellLanguage

/// The entries that the list of the full-screen view shows, and their order.
struct BrowseQuery: Equatable {
  enum Order: String, CaseIterable {
    case key, size, expiry, written, used

    var sort: Selection.Sort {
      switch self {
      case .key: .key
      case .size: .size
      case .expiry: .expiry
      case .written: .written
      case .used: .used
      }
    }

    /// The largest and the latest come first: they are what a person looks for.
    var isReversed: Bool { [.size, .written, .used].contains(self) }

    var next: Order {
      let all = Self.allCases
      return all[(all.firstIndex(of: self)! + 1) % all.count]
    }
  }

  /// Nil for all namespaces.
  var namespace: String?
  /// A pattern, or text that the key contains.
  var filter = ""
  /// The condition of `--where`.
  var expression = ""
  var order = Order.key

  var isNarrowed: Bool { !filter.isEmpty || !expression.isEmpty }

  /// The filter and the condition, for the title of the list.
  var words: String { [filter, expression].filter { !$0.isEmpty }.joined(separator: "  ") }

  func selection(_ clock: WallClock) throws(ShellError) -> Selection {
    var selection = Selection(namespaces: .all)
    if !filter.isEmpty { selection.patterns = [.glob(try glob())] }
    if !expression.isEmpty {
      let word = Word(Array(expression.utf8), isBare: true, at: 0..<expression.utf8.count)
      selection.filters = [try word.expression(clock, Variables())]
    }
    selection.sort = order.sort
    selection.isReversed = order.isReversed
    return selection
  }

  /// Text without capitals is found in either case, as a person expects of a search.
  private func glob() throws(ShellError) -> Glob {
    let typed = Word(Array(filter.utf8), isBare: true, at: 0..<filter.utf8.count)
    if typed.isGlob { return try Glob(typed) }
    let around = Word(Array("*\(filter)*".utf8), isBare: true, at: 0..<filter.utf8.count)
    return try Glob(around, ignoresCase: filter == filter.lowercased())
  }
}

/// The name of an entry among those of all namespaces.
struct EntryID: Hashable {
  let namespace: String
  let key: [UInt8]

  init(_ entry: Store.Entry) {
    namespace = entry.namespace
    key = entry.key.bytes
  }
}

/// A change that a person has asked for in the full-screen view.
struct BrowseChange: Equatable {
  enum Verb: Equatable {
    case evict, pin, unpin
    case expire(String)

    var name: String {
      switch self {
      case .evict: "evict"
      case .pin: "pin"
      case .unpin: "unpin"
      case .expire: "expire"
      }
    }
  }

  let verb: Verb
  let entries: [Store.Entry]

  /// `Evict 3 entries (107 B) in departures?`
  var question: SafeText {
    var tally = Tally()
    for entry in entries { tally.add(entry) }
    let places = Set(entries.map(\.namespace)).sorted().map { SafeText($0) }.joined()
    let name = verb.name.prefix(1).uppercased() + verb.name.dropFirst()
    let only: SafeText = entries.count == 1 ? " \(entries[0].key.bytes):" : ""
    let time: SafeText = if case .expire(let time) = verb { " at \(time)" } else { "" }
    return "\(name)\(only) \(tally.inBrackets) in \(places)\(time)?"
  }

  /// The commands that make the change, one for each namespace.
  ///
  /// - Parameter option: `--yes`, since the person was asked, or `--dry-run`.
  func commands(_ option: String) throws(ShellError) -> [CommandLine] {
    let groups = Dictionary(grouping: entries, by: \.namespace).sorted { $0.key < $1.key }
    var commands: [CommandLine] = []
    for (namespace, entries) in groups {
      var words = entries.map(\.key.bytes)
      if case .expire(let time) = verb { words.append(Array(time.utf8)) }
      commands.append(
        try CommandReader.command(verb.name, in: namespace, options: [option], data: words))
    }
    return commands
  }
}
