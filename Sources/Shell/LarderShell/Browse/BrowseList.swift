import Larder
import LarderSystem
import ShellLanguage

/// The entries that the list of the full-screen view shows, and their order.
struct BrowseQuery: Equatable {
  static let orders: [(name: String, sort: Selection.Sort, isReversed: Bool)] = [
    // The largest and the latest come first: they are what a person looks for.
    ("key", .key, false), ("size", .size, true), ("expiry", .expiry, false),
    ("written", .written, true), ("used", .used, true),
  ]

  /// Nil for all namespaces.
  var namespace: String?
  /// A pattern, or text that the key contains.
  var filter = ""
  /// The condition of `--where`.
  var expression = ""
  /// The number of the order.
  var order = 0

  var isNarrowed: Bool { !filter.isEmpty || !expression.isEmpty }

  func selection(_ clock: WallClock) throws(ShellError) -> Selection {
    func word(_ text: String) -> Word {
      Word(Array(text.utf8), isBare: true, at: 0..<text.utf8.count)
    }
    let condition =
      expression.isEmpty ? nil : try word(expression).expression(clock, Variables())
    var selection = try Selection(
      namespaces: .all, words: [], values: ["--where": condition.map { [.expression($0)] } ?? []],
      flags: [])
    if word(filter).isGlob {
      selection.patterns = [.glob(try Glob(word(filter)))]
    } else if !filter.isEmpty {
      // Text without capitals is found in either case, as a person expects of a search.
      let isLower = filter == filter.lowercased()
      selection.patterns = [.glob(try Glob(word("*\(filter)*"), ignoresCase: isLower))]
    }
    selection.sort = Self.orders[order].sort
    selection.isReversed = Self.orders[order].isReversed
    return selection
  }
}

/// Reads the rows of a list a window at a time, and counts its entries.
///
/// In the order of keys a window is a scan from an entry near its first row. In another order the whole list is read for
/// each window, and only the best rows are kept. No snapshot is held between two calls.
final class BrowseList {
  private static let batch = 500

  private let session: Session
  private var selection: Selection
  private let order: EntryOrder?
  private let namespaces: [Store.Namespace]
  private var census: SelectionWalk
  private var counted = 0
  /// The last entry of each batch that was counted.
  private var anchors: [Store.Entry] = []

  /// The number of entries of the list; nil until `count` has seen all.
  private(set) var total: Int?

  /// - Parameter session: Its interruption ends a read.
  init(_ query: BrowseQuery, of session: Session) throws {
    self.session = session
    selection = try query.selection(session.wallClock)
    order = EntryOrder(selection)
    let names = try query.namespace.map { [$0] } ?? session.store.namespaces().map(\.name)
    namespaces = try names.map(session.store.namespace).filter { try $0.info() != nil }
    // The walks below are in the order of keys, whatever the order of the list.
    (selection.sort, selection.isReversed) = (nil, false)
    census = try SelectionWalk(selection, in: namespaces, for: session)
  }

  /// Counts some more entries.
  func count() throws {
    guard total == nil else { return }
    let found = try census.next(Self.batch)
    counted += found.count
    if let last = found.last { anchors.append(last) }
    if found.count < Self.batch { total = counted }
  }

  /// Begins to count again, after changes.
  func recount() throws {
    census = try SelectionWalk(selection, in: namespaces, for: session)
    (counted, total, anchors) = (0, nil, [])
  }

  /// The rows behind a row, or the first ones.
  ///
  /// - Parameter includes: The row itself comes first, if it still belongs to the list.
  func rows(after row: Ranked?, includes: Bool = false, _ count: Int) throws -> [Ranked] {
    guard count > 0 else { return [] }
    var kept: [Ranked] = []
    if let order {
      try scan(behind: nil) { found in
        kept += found.filter { candidate in
          row.map { order.precedes($0, candidate) || includes && candidate.isSame(as: $0) } ?? true
        }
        kept.keepFirst(count, of: order)
        return true
      }
      return kept
    }
    if includes, let row, let there = try present(row.entry) { kept = [there] }
    try scan(behind: row?.entry, atMost: count) { found in
      kept += found
      return kept.count < count
    }
    return Array(kept.prefix(count))
  }

  /// The rows before a row, or the last ones.
  func rows(before row: Ranked?, _ count: Int) throws -> [Ranked] {
    guard count > 0 else { return [] }
    var kept: [Ranked] = []
    if let order {
      try scan(behind: nil) { found in
        kept += found.filter { candidate in row.map { order.precedes(candidate, $0) } ?? true }
        kept.sort(by: order.precedes)
        kept = kept.suffix(count)
        return true
      }
      return kept
    }
    // A scan goes forward only: from an anchor with more than a window between it and the row.
    let last = anchors.lastIndex { anchor in row.map { anchor.isBefore($0.entry) } ?? true } ?? 0
    try scan(behind: last > 0 ? anchors[last - 1] : nil) { found in
      let before = row.map { row in found.prefix { $0.entry.isBefore(row.entry) } } ?? found[...]
      kept = (kept + before).suffix(count)
      return before.count == found.count
    }
    return kept
  }

  /// Whether an entry that is shown exists no more.
  func isGone(_ entry: Store.Entry) throws -> Bool {
    let namespace = session.store.namespace(entry.namespace)
    guard try namespace.info() != nil else { return true }
    return try namespace.entry(for: entry.key.bytes).map { $0.state == .expired } ?? true
  }

  /// The entry as it is now; nil if it does not belong to the list.
  private func present(_ entry: Store.Entry) throws -> Ranked? {
    var exact = selection
    let isListed = exact.patterns.allSatisfy { $0.matches(entry.key.bytes) }
    exact.patterns = [.key(entry.key.bytes)]
    let here = namespaces.filter { $0.name.isExactly(entry.namespace) }
    guard isListed, !here.isEmpty else { return nil }
    var walk = try SelectionWalk(exact, in: here, for: session)
    return try walk.next(1).first.map { Ranked(entry: $0, value: .null) }
  }

  /// Hands out the entries behind one in the order of keys, until `take` returns false.
  private func scan(
    behind entry: Store.Entry?, atMost batch: Int = BrowseList.batch,
    _ take: ([Ranked]) -> Bool
  ) throws {
    var parts: [(namespaces: [Store.Namespace], key: [UInt8]?)] = [(namespaces, nil)]
    if let entry {
      parts = [
        (namespaces.filter { $0.name.isExactly(entry.namespace) }, entry.key.bytes),
        (namespaces.filter { $0.name > entry.namespace }, nil),
      ]
    }
    for part in parts {
      var selection = selection
      selection.after = part.key
      var walk = try SelectionWalk(selection, in: part.namespaces, for: session)
      while true {
        let found = try walk.next(batch).map { Ranked(entry: $0, value: .null) }
        if !take(found) { return }
        if found.count < batch { break }
      }
    }
  }
}

extension [Ranked] {
  fileprivate mutating func keepFirst(_ count: Int, of order: EntryOrder) {
    sort(by: order.precedes)
    removeLast(Swift.max(self.count - count, 0))
  }
}

extension Ranked {
  fileprivate func isSame(as other: Ranked) -> Bool {
    (entry.namespace, entry.key) == (other.entry.namespace, other.entry.key)
  }
}

extension Store.Entry {
  fileprivate func isBefore(_ other: Store.Entry) -> Bool {
    (namespace, key) < (other.namespace, other.key)
  }
}
