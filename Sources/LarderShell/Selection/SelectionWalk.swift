import Larder

/// Finds the entries of a selection, some at a time, in the order of keys.
///
/// Between two calls nothing of the store is held, however long the caller takes to write or to ask.
/// The whole is therefore no single moment of the store.
struct SelectionWalk {
  private let namespaces: [Namespace]
  private let ranges: [KeyRange]
  private let test: EntryTest
  private let seesExpired: Bool
  private let first: [UInt8]?
  private let isInterrupted: () -> Bool
  private var input: IncomingKeys?
  /// Where it stands: how many namespaces and ranges lie behind, and the last key of the present one.
  private var namespacesDone = 0
  private var rangesDone = 0
  private var last: [UInt8]?
  /// Entries under a key from outside, of which there may be one in each namespace.
  private var pending: [Entry] = []

  /// - Parameter includingExpired: Entries that have expired are found too, filters permitting.
  init(
    _ selection: Selection, in namespaces: [Namespace], for session: Session,
    includingExpired: Bool = false
  ) throws {
    self.namespaces = namespaces
    ranges = selection.ranges
    test = try EntryTest(selection)
    seesExpired = includingExpired || test.seesExpired
    first = selection.after
    isInterrupted = session.host.isInterrupted
    if let kind = selection.input { input = try IncomingKeys(kind, from: session.host) }
  }

  /// The next entries, at most so many; none at the end.
  mutating func next(_ most: Int) throws -> [Entry] {
    var found: [Entry] = []
    while found.count < most, namespacesDone < namespaces.count {
      guard rangesDone < ranges.count else {
        namespacesDone += 1
        rangesDone = 0
        continue
      }
      try visit(ranges[rangesDone], of: namespaces[namespacesDone], &found, most)
    }
    while found.count < most, let entry = try nextFromInput() { found.append(entry) }
    return found
  }

  private mutating func visit(
    _ range: KeyRange, of namespace: Namespace, _ found: inout [Entry], _ most: Int
  ) throws {
    var isFull = false
    switch range {
    case .key(let key):
      if first.map({ $0.lexicographicallyPrecedes(key) }) ?? true,
        let entry = try find(key, in: namespace)
      {
        found.append(entry)
      }
    case .prefix(let prefix):
      let start = try (last ?? first).map { try namespace.cursor(after: $0) }
      try namespace.scan(prefix: prefix, after: start, includingExpired: seesExpired) {
        entry, value in
        if isInterrupted() { throw Interruption() }
        guard test.passes(entry, value) else { return true }
        found.append(entry.withoutExtras)
        isFull = found.count >= most
        return !isFull
      }
    }
    last = isFull ? found.last?.key.bytes : nil
    if !isFull { rangesDone += 1 }
  }

  private func find(_ key: [UInt8], in namespace: Namespace) throws -> Entry? {
    if isInterrupted() { throw Interruption() }
    let entry: Entry? =
      if test.readsValues {
        try namespace.lookUp(key) { entry, value in
          test.passesFilters(entry, value) ? entry : nil
        } ?? nil
      } else {
        try namespace.entry(for: key).flatMap { test.passesFilters($0, Span()) ? $0 : nil }
      }
    return entry.flatMap { $0.state == .expired && !seesExpired ? nil : $0.withoutExtras }
  }

  private mutating func nextFromInput() throws -> Entry? {
    while pending.isEmpty {
      guard let key = try input?.next() else { return nil }
      pending = try namespaces.compactMap { try find(key, in: $0) }.reversed()
    }
    return pending.removeLast()
  }
}

extension Entry {
  /// What lists and changes need to know; the rest may be as large as values are.
  fileprivate var withoutExtras: Entry {
    var entry = self
    entry.tags = []
    entry.owners = []
    entry.entityTag = nil
    entry.lastModified = nil
    entry.metadata = nil
    return entry
  }
}
