import Larder
import LarderSystem
import ShellLanguage

/// Reads the rows of a list a window at a time.
///
/// In the order of keys a window is a scan from its first key. In another order the whole list is read for each
/// window, and only the best rows are kept. No snapshot is held between two calls.
final class BrowseReader {
  private let session: Session
  private var selection: Selection
  private var order: EntryOrder?
  private var namespaces: [Store.Namespace]
  private var census: SelectionWalk
  private var counted = 0
  private var anchors = Anchors()

  private static let batch = 500

  /// The number of entries of the list; nil until `count` has seen all.
  private(set) var total: Int?

  /// - Parameter session: Its interruption ends a read.
  init(_ query: BrowseQuery, of session: Session) throws {
    self.session = session
    selection = try query.selection(session.wallClock)
    order = EntryOrder(selection)
    let names = try query.namespace.map { [$0] } ?? session.store.namespaces().map(\.name)
    namespaces = try names.map(session.store.namespace)
      .filter { try $0.info() != nil }
    // The walk below is in the order of keys, whatever the order of the list.
    (selection.sort, selection.isReversed) = (nil, false)
    census = try SelectionWalk(selection, in: namespaces, for: session)
  }

  /// Counts some more entries.
  func count() throws {
    guard total == nil else { return }
    let found = try census.next(Self.batch)
    for entry in found {
      anchors.add(entry, at: counted)
      counted += 1
    }
    if found.count < Self.batch { total = counted }
  }

  /// Begins to count again, after changes.
  func recount() throws {
    census = try SelectionWalk(selection, in: namespaces, for: session)
    (counted, total) = (0, nil)
    anchors = Anchors()
  }

  /// The rows behind a row, or the first ones.
  ///
  /// - Parameter includes: The row itself comes first, if it still belongs to the list.
  func rows(after row: Ranked?, includes: Bool = false, _ count: Int) throws -> [Ranked] {
    guard count > 0 else { return [] }
    if let order {
      return try best(count) { candidate in
        row.map {
          order.precedes($0, candidate) || includes && candidate.entry.isSame(as: $0.entry)
        }
          ?? true
      }
    }
    guard let entry = row?.entry else { return try ranked(next(count, of: namespaces)) }
    var found: [Store.Entry] = []
    if includes, let same = try present(entry) { found.append(same) }
    let here = namespaces.filter { $0.name.isExactly(entry.namespace) }
    found += try next(count - found.count, of: here, after: entry.key.bytes)
    let later = namespaces.filter { $0.name > entry.namespace }
    found += try next(count - found.count, of: later)
    return ranked(found)
  }

  /// The rows before a row, or the last ones.
  func rows(before row: Ranked?, _ count: Int) throws -> [Ranked] {
    guard count > 0 else { return [] }
    if let order {
      return try best(count, last: true) { candidate in
        row.map { order.precedes(candidate, $0) } ?? true
      }
    }
    // The scan goes forward only: from the last known entry far enough ahead of the row.
    let start = anchors.last(before: row?.entry, by: count)
    var kept = try start.flatMap { try present($0) }.map { [$0] } ?? []
    var walks = try [walk(namespaces, after: nil)]
    if let start {
      walks = try [
        walk(namespaces.filter { $0.name.isExactly(start.namespace) }, after: start.key.bytes),
        walk(namespaces.filter { $0.name > start.namespace }, after: nil),
      ]
    }
    for index in walks.indices {
      while true {
        let found = try walks[index].next(Self.batch)
        let before = row.map { row in found.prefix { $0.isBefore(row.entry) } } ?? found[...]
        kept = (kept + before).suffix(count)
        if before.count < found.count { return ranked(kept) }
        if found.count < Self.batch { break }
      }
    }
    return ranked(kept)
  }

  /// Whether an entry that is shown exists no more.
  func isGone(_ entry: Store.Entry) throws -> Bool {
    let namespace = session.store.namespace(entry.namespace)
    guard try namespace.info() != nil else { return true }
    return try namespace.entry(for: entry.key.bytes).map { $0.state == .expired } ?? true
  }

  /// The entry as it is now; nil if it does not belong to the list.
  private func present(_ entry: Store.Entry) throws -> Store.Entry? {
    guard let namespace = namespaces.first(where: { $0.name.isExactly(entry.namespace) }) else {
      return nil
    }
    let test = EntryTest(selection, session.queries)
    guard test.readsValues else {
      return try namespace.entry(for: entry.key.bytes).flatMap {
        try $0.state != .expired && test.passes($0, Span()) ? $0.withoutExtras : nil
      }
    }
    return try namespace.lookUp(entry.key.bytes) { entry, value in
      try entry.state != .expired && test.passes(entry, value) ? entry.withoutExtras : nil
    } ?? nil
  }

  private func next(
    _ count: Int, of namespaces: [Store.Namespace], after key: [UInt8]? = nil
  ) throws -> [Store.Entry] {
    var walk = try walk(namespaces, after: key)
    return try walk.next(count)
  }

  private func walk(
    _ namespaces: [Store.Namespace], after key: [UInt8]?
  ) throws -> SelectionWalk {
    var selection = selection
    selection.after = key
    return try SelectionWalk(selection, in: namespaces, for: session)
  }

  private func ranked(_ entries: [Store.Entry]) -> [Ranked] {
    entries.map { Ranked(entry: $0, value: .null) }
  }

  /// The first rows that pass, or the last ones, of the whole list.
  private func best(
    _ count: Int, last: Bool = false, _ passes: (Ranked) -> Bool
  ) throws -> [Ranked] {
    guard let order else { return [] }
    var walk = try walk(namespaces, after: nil)
    var kept: [Ranked] = []
    while true {
      let found = try walk.next(Self.batch)
      kept += ranked(found).filter(passes)
      if kept.count > count {
        kept.sort(by: order.precedes)
        kept = last ? kept.suffix(count) : Array(kept.prefix(count))
      }
      if found.count < Self.batch { break }
    }
    return kept.sorted(by: order.precedes)
  }
}

/// Some entries of a list, evenly apart, from which a scan can start.
private struct Anchors {
  private static let most = 128

  private var kept: [(index: Int, entry: Store.Entry)] = []
  private var stride = 64

  mutating func add(_ entry: Store.Entry, at index: Int) {
    guard index % stride == 0 else { return }
    kept.append((index, entry))
    guard kept.count > Self.most else { return }
    stride *= 2
    kept.removeAll { $0.index % stride != 0 }
  }

  /// The last anchor with at least `count` entries between it and the entry; nil for the beginning.
  func last(before entry: Store.Entry?, by count: Int) -> Store.Entry? {
    guard
      let last = kept.lastIndex(where: { anchor in
        entry.map { anchor.entry.isBefore($0) } ?? true
      })
    else { return nil }
    // The entries between the last anchor and the entry are unknown, and can be none.
    return kept[...last].last { kept[last].index - $0.index >= count }?.entry
  }
}

extension Store.Entry {
  fileprivate func isBefore(_ other: Store.Entry) -> Bool {
    (namespace, key) < (other.namespace, other.key)
  }

  fileprivate func isSame(as other: Store.Entry) -> Bool {
    (namespace, key) == (other.namespace, other.key)
  }
}
