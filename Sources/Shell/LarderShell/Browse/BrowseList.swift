import Larder
import LarderSystem
import ShellLanguage

struct BrowseQuery: Equatable {
  static let orders: [(name: String, sort: Selection.Sort, isReversed: Bool)] = [
    // A person usually wants the largest, last written or last used entries first, so three of the orders are reversed.
    ("key", .key, false), ("size", .size, true), ("expiry", .expiry, false),
    ("written", .written, true), ("used", .used, true),
  ]

  var namespace: String?
  /// A pattern, or a text that a key must contain.
  var filter = ""
  /// An expression, as after `--where`.
  var expression = ""
  var order = 0

  var isNarrowed: Bool { !filter.isEmpty || !expression.isEmpty }

  /// Compares the texts by their bytes, because another spelling of a name means another namespace.
  static func == (left: BrowseQuery, right: BrowseQuery) -> Bool {
    left.order == right.order
      && left.namespace.map { ExactString($0) } == right.namespace.map { ExactString($0) }
      && left.filter.isExactly(right.filter) && left.expression.isExactly(right.expression)
  }

  func selection(_ clock: WallClock) throws(ShellError) -> Selection {
    func word(_ text: String) -> Word {
      Word(Array(text.utf8), isBare: true, at: 0..<text.utf8.count)
    }
    var selection = Selection(namespaces: .all)
    if !expression.isEmpty {
      selection.filters = [try word(expression).expression(clock, Variables())]
    }
    if !filter.isEmpty {
      let isGlob = word(filter).isGlob
      // A text without capitals also matches capitals, as in most search fields.
      let ignoresCase = !isGlob && filter == filter.lowercased()
      let pattern = word(isGlob ? filter : "*\(filter)*")
      selection.patterns = [.glob(try Glob(pattern, ignoresCase: ignoresCase))]
    }
    selection.sort = Self.orders[order].sort
    selection.isReversed = Self.orders[order].isReversed
    return selection
  }
}

/// Reads the rows that a window shows, and counts the entries of the list. No snapshot is held between two calls.
///
/// In the order of keys, a read starts at a row that is shown. In any other order, each read goes through the whole list.
final class BrowseList {
  private static let batch = 500

  let query: BrowseQuery
  private let session: Session
  private let selection: Selection
  private let order: EntryOrder?
  private let namespaces: [Store.Namespace]
  private var census: SelectionWalk?
  /// The number of entries that `count` has seen.
  private(set) var counted = 0
  private(set) var isCounted = false

  /// - Parameter session: An interruption of this session stops a read.
  init(_ query: BrowseQuery, of session: Session) throws {
    self.query = query
    self.session = session
    var selection = try query.selection(session.wallClock)
    order = EntryOrder(selection)
    let names = try query.namespace.map { [$0] } ?? session.store.namespaces().map(\.name)
    namespaces = names.map(session.store.namespace)
    // All walks are in the order of keys or in the reverse order. If the list has another order, `rows` sorts the entries.
    (selection.sort, selection.isReversed) = (nil, false)
    self.selection = selection
  }

  /// Counts the next entries of the list. Sets `isCounted` after the last entry.
  func count() throws {
    var walk = try census ?? SelectionWalk(selection, in: namespaces, for: session)
    let found = try walk.next(Self.batch).count
    census = walk
    counted += found
    isCounted = found < Self.batch
  }

  /// At most `count` rows after `row`, and with `includes` also `row` itself. If `count` is negative, at most `-count` rows
  /// before `row`. If `row` is nil, the first or the last rows of the list.
  func rows(
    _ count: Int, from row: Store.Entry? = nil, includes: Bool = false
  ) throws -> [Store.Entry] {
    let (isReversed, most) = (count < 0, abs(count))
    var found: [Store.Entry] = []
    if let order {
      func precedes(_ a: Store.Entry, _ b: Store.Entry) -> Bool {
        isReversed ? order.isBefore(b, a) : order.isBefore(a, b)
      }
      var first = FirstOf<Store.Entry>(
        most: most, pause: session.host.checkInterruption, precedes: precedes)
      var walk = try SelectionWalk(selection, in: namespaces, for: session)
      try walk.advance { entry, _ in
        let isBeyond = row.map { row in
          precedes(row, entry) || includes && EntryID(entry) == EntryID(row)
        }
        if isBeyond ?? true { try first.add(entry.withoutExtras) }
        return true
      }
      found = try first.sorted()
    } else {
      for (selection, namespaces) in parts(row, includes, isReversed) where found.count < most {
        var walk = try SelectionWalk(selection, in: namespaces, for: session)
        found += try walk.next(most - found.count)
      }
    }
    return isReversed ? found.reversed() : found
  }

  /// The selections that find the rows from `row` on in the order of keys or in the reverse order, and their namespaces.
  private func parts(
    _ row: Store.Entry?, _ includes: Bool, _ isReversed: Bool
  ) -> [(Selection, [Store.Namespace])] {
    var all = selection
    all.isReversed = isReversed
    guard let row else { return [(all, namespaces)] }
    let (name, key) = (row.namespace, row.key.bytes)
    let here = namespaces.filter { $0.name.isExactly(name) }
    // The namespaces are in the order of the bytes of their names. `String` compares names without regard to their spelling.
    let further = namespaces.filter {
      let (first, second) = isReversed ? ($0.name, name) : (name, $0.name)
      return first.utf8.lexicographicallyPrecedes(second.utf8)
    }
    var (exact, beyond) = (all, all)
    exact.patterns = [.key(key)]
    beyond.after = key
    // The row may be removed, or may no longer meet the conditions, so the list looks up the key of the row again.
    let isIncluded = includes && selection.patterns.allSatisfy { $0.matches(key) }
    let parts = [(beyond, here), (all, further)]
    return isIncluded ? [(exact, here)] + parts : parts
  }
}
