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

  func selection(_ clock: WallClock) throws(ShellError) -> Selection {
    func word(_ text: String) -> Word {
      Word(Array(text.utf8), isBare: true, at: 0..<text.utf8.count)
    }
    var selection = Selection(namespaces: .all)
    if !expression.isEmpty {
      selection.filters = [try word(expression).expression(clock, Variables())]
    }
    if word(filter).isGlob {
      selection.patterns = [.glob(try Glob(word(filter)))]
    } else if !filter.isEmpty {
      // A text without capitals also matches capitals, as in most search fields.
      let isLower = filter == filter.lowercased()
      selection.patterns = [.glob(try Glob(word("*\(filter)*"), ignoresCase: isLower))]
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

  private let session: Session
  private let selection: Selection
  private let order: EntryOrder?
  private let namespaces: [Store.Namespace]
  private var census: SelectionWalk
  private var counted = 0
  /// The number of entries of the list; nil until `count` has seen all entries.
  private(set) var total: Int?

  /// - Parameter session: An interruption of this session stops a read.
  init(_ query: BrowseQuery, of session: Session) throws {
    self.session = session
    var selection = try query.selection(session.wallClock)
    order = EntryOrder(selection)
    let names = try query.namespace.map { [$0] } ?? session.store.namespaces().map(\.name)
    namespaces = try names.map(session.store.namespace).filter { try $0.info() != nil }
    // All walks are in the order of keys or in the reverse order. If the list has another order, `next` sorts the entries.
    (selection.sort, selection.isReversed) = (nil, false)
    self.selection = selection
    census = try SelectionWalk(selection, in: namespaces, for: session)
  }

  func count() throws {
    guard total == nil else { return }
    let found = try census.next(Self.batch).count
    counted += found
    if found < Self.batch { total = counted }
  }

  func recount() throws {
    census = try SelectionWalk(selection, in: namespaces, for: session)
    (counted, total) = (0, nil)
  }

  /// The rows after `row`, and with `includes` also `row` itself. If `row` is nil, the first rows of the list.
  func rows(after row: Store.Entry?, includes: Bool = false, _ count: Int) throws -> [Store.Entry] {
    try next(count, from: row, includes: includes, isReversed: false)
  }

  func rows(before row: Store.Entry?, _ count: Int) throws -> [Store.Entry] {
    try next(count, from: row, includes: false, isReversed: true).reversed()
  }

  /// The rows after `row` in the direction of the walk. The first result is the nearest row.
  private func next(
    _ count: Int, from row: Store.Entry?, includes: Bool, isReversed: Bool
  ) throws -> [Store.Entry] {
    guard count > 0 else { return [] }
    if let order {
      func precedes(_ a: Store.Entry, _ b: Store.Entry) -> Bool {
        isReversed ? order.isBefore(b, a) : order.isBefore(a, b)
      }
      var first = FirstOf<Store.Entry>(
        most: count, pause: session.host.checkInterruption, precedes: precedes)
      var walk = try SelectionWalk(selection, in: namespaces, for: session)
      try walk.advance { entry, _ in
        let isBeyond = row.map { row in
          precedes(row, entry) || includes && EntryID(entry) == EntryID(row)
        }
        if isBeyond ?? true { try first.add(entry.withoutExtras) }
        return true
      }
      return try first.sorted()
    }
    var selection = selection
    selection.isReversed = isReversed
    var parts = [namespaces]
    if let row {
      selection.after = row.key.bytes
      parts = [
        namespaces.filter { $0.name.isExactly(row.namespace) },
        namespaces.filter { isReversed ? $0.name < row.namespace : $0.name > row.namespace },
      ]
    }
    var found = includes ? try row.flatMap { try present($0) }.map { [$0] } ?? [] : []
    for part in parts where found.count < count {
      var walk = try SelectionWalk(selection, in: part, for: session)
      found += try walk.next(count - found.count)
      selection.after = nil
    }
    return found
  }

  func isGone(_ entry: Store.Entry) throws -> Bool {
    let namespace = session.store.namespace(entry.namespace)
    guard try namespace.info() != nil else { return true }
    return try namespace.entry(for: entry.key.bytes).map { $0.state == .expired } ?? true
  }

  /// Looks up the key of `entry` again. Returns nil if the key has no entry now, or if this entry does not belong to the list.
  private func present(_ entry: Store.Entry) throws -> Store.Entry? {
    let key = entry.key.bytes
    let here = namespaces.filter { $0.name.isExactly(entry.namespace) }
    guard !here.isEmpty, selection.patterns.allSatisfy({ $0.matches(key) }) else { return nil }
    var exact = selection
    exact.patterns = [.key(key)]
    var walk = try SelectionWalk(exact, in: here, for: session)
    return try walk.next(1).first
  }
}
