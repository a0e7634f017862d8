import Larder
import ShellLanguage

/// Finds the entries of a selection, some at a time, in the order of keys.
///
/// Between two calls nothing of the store is held, however long the caller takes to write or to ask.
/// The whole is therefore no single moment of the store.
struct SelectionWalk {
  private let namespaces: [Store.Namespace]
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
  private var pending: [(entry: Store.Entry, namespace: Store.Namespace)] = []
  /// How many keys from outside are in none of the namespaces.
  private(set) var absent = 0

  /// - Parameter includingExpired: Entries that have expired are found too, filters permitting.
  init(
    _ selection: Selection, in namespaces: [Store.Namespace], for session: Session,
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
  mutating func next(_ most: Int) throws -> [Store.Entry] {
    var found: [Store.Entry] = []
    guard most > 0 else { return found }
    try advance(readingValues: false) { entry, _ in
      found.append(entry.withoutExtras)
      return found.count < most
    }
    return found
  }

  /// Hands out the next entries until `take` has enough and answers false.
  ///
  /// - Parameter readingValues: Values are wanted; otherwise they may be empty.
  mutating func advance(
    readingValues: Bool, _ take: (Store.Entry, Span<UInt8>) throws -> Bool
  ) throws {
    while namespacesDone < namespaces.count {
      guard rangesDone < ranges.count else {
        namespacesDone += 1
        rangesDone = 0
        continue
      }
      let isEnough = try !visit(
        ranges[rangesDone], of: namespaces[namespacesDone], readingValues, take)
      if isEnough { return }
    }
    while let (entry, namespace) = try nextFromInput() {
      let wantsMore = readingValues ? try namespace.lookUp(entry.key.bytes, take) : nil
      if try !(wantsMore ?? take(entry, Span())) { return }
    }
  }

  /// Whether more is wanted.
  private mutating func visit(
    _ range: KeyRange, of namespace: Store.Namespace, _ readingValues: Bool,
    _ take: (Store.Entry, Span<UInt8>) throws -> Bool
  ) throws -> Bool {
    var wantsMore = true
    var reached: [UInt8]?
    switch range {
    case .key(let key):
      if first.map({ $0.lexicographicallyPrecedes(key) }) ?? true,
        let entry = try find(key, in: namespace)
      {
        let answer = readingValues ? try namespace.lookUp(key, take) : nil
        wantsMore = try answer ?? take(entry, Span())
      }
    case .prefix(let prefix):
      let start = try (last ?? first).map { try namespace.cursor(after: $0) }
      try namespace.scan(prefix: prefix, after: start, includingExpired: seesExpired) {
        entry, value in
        if isInterrupted() { throw Interruption() }
        guard test.passes(entry, value) else { return true }
        wantsMore = try take(entry, value)
        if !wantsMore { reached = entry.key.bytes }
        return wantsMore
      }
    }
    last = reached
    if reached == nil { rangesDone += 1 }
    return wantsMore
  }

  private func find(_ key: [UInt8], in namespace: Store.Namespace) throws -> Store.Entry? {
    if isInterrupted() { throw Interruption() }
    let entry: Store.Entry? =
      if test.readsValues {
        try namespace.lookUp(key) { entry, value in
          test.passesFilters(entry, value) ? entry : nil
        } ?? nil
      } else {
        try namespace.entry(for: key).flatMap { test.passesFilters($0, Span()) ? $0 : nil }
      }
    return entry.flatMap { $0.state == .expired && !seesExpired ? nil : $0 }
  }

  private mutating func nextFromInput() throws -> (entry: Store.Entry, namespace: Store.Namespace)?
  {
    while pending.isEmpty {
      guard let key = try input?.next() else { return nil }
      for namespace in namespaces.reversed() {
        if let entry = try find(key, in: namespace) { pending.append((entry, namespace)) }
      }
      if pending.isEmpty, try namespaces.allSatisfy({ try $0.entry(for: key) == nil }) {
        absent += 1
      }
    }
    return pending.removeLast()
  }
}

extension Store.Entry {
  /// What lists and changes need to know; the rest may be as large as values are.
  var withoutExtras: Store.Entry {
    var entry = self
    entry.tags = []
    entry.owners = []
    entry.entityTag = nil
    entry.lastModified = nil
    entry.metadata = nil
    return entry
  }
}
