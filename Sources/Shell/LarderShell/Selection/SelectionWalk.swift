import Larder
import LarderSystem
import ShellLanguage

/// Finds the entries of a selection a few at a time, in the order of keys or in the reverse order. The patterns and conditions
/// decide which ranges of keys, or which keys of an index, are read. No snapshot is held between two calls.
struct SelectionWalk {
  /// If an index has more than `mostIndexed` entries, a walk through all entries is faster.
  private static let mostIndexed = 10_000
  private static let batch = 500

  private let namespaces: [Store.Namespace]
  private let selection: Selection
  private let test: EntryTest
  private let seesExpired: Bool
  private let readsValues: Bool
  private let now: Timestamp
  private let checkInterruption: () throws -> Void
  private var input: IncomingKeys?
  /// The namespaces by name, for keys from standard input that name a namespace.
  private lazy var named = Dictionary(namespaces.map { (ExactString($0.name), $0) }) { $1 }
  /// The namespaces whose ranges are still to be read.
  private var left: ArraySlice<Store.Namespace>
  /// The next parts of the walk: ranges of one namespace, or one key from standard input in each namespace that has the key.
  private var parts: ArraySlice<Part> = []
  /// The key that the walk has read last in the first part; nil if the walk has read none.
  private var last: [UInt8]?
  let walked = Walked()

  private typealias Part = (range: KeyRange, namespace: Store.Namespace)

  /// - Parameters:
  ///   - input: The keys of standard input, if they were already read.
  ///   - readingValues: Whether ``advance(_:)`` gives the values. Otherwise the values may be empty.
  ///   - includingExpired: Whether expired entries that meet the filters are found, too.
  init(
    _ selection: Selection, in namespaces: [Store.Namespace], for session: Session,
    input: IncomingKeys? = nil, readingValues: Bool = false, includingExpired: Bool = false
  ) throws {
    self.selection = selection
    self.namespaces = selection.isReversed ? namespaces.reversed() : namespaces
    left = self.namespaces[...]
    test = EntryTest(selection, session.queries)
    seesExpired = includingExpired || selection.wantsExpired
    readsValues = readingValues || test.readsValues
    now = session.clock.now
    checkInterruption = session.host.checkInterruption
    self.input = try input ?? selection.input.map { try IncomingKeys($0, from: session.host) }
  }

  mutating func next(_ most: Int) throws -> [Store.Entry] {
    var found: [Store.Entry] = []
    guard most > 0 else { return found }
    try advance { entry, _ in
      found.append(entry.withoutExtras)
      return found.count < most
    }
    return found
  }

  /// At most `most` further keys of a selection that needs no facts. This function is much faster than ``next(_:)``.
  mutating func nextKeys(_ most: Int) throws -> [[UInt8]] {
    var found: [[UInt8]] = []
    while found.count < most, let (range, namespace) = try nextPart() {
      guard case .prefix(let prefix) = range else { preconditionFailure("a key has facts") }
      let start = try (last ?? selection.after).map { try namespace.cursor(after: $0) }
      try namespace.scanKeys(prefix: prefix, after: start, damaged: walked.addDamage) {
        try checkInterruption()
        let key: [UInt8] = $0.bytes
        if test.passesKey(key) { found.append(key) }
        return found.count < most
      }
      if found.count < most { endPart() } else { last = found.last }
    }
    return found
  }

  /// Receives an entry and its value, and returns whether the walk continues.
  typealias Take = (Store.Entry, Span<UInt8>) throws -> Bool

  /// Gives the next entries to `take` until `take` returns false.
  mutating func advance(_ take: Take) throws {
    while let (range, namespace) = try nextPart() {
      if try !visit(range, of: namespace, take) { return }
    }
  }

  /// The part that must be read now: first the ranges of each namespace, and then the keys from standard input.
  private mutating func nextPart() throws -> Part? {
    while parts.isEmpty {
      if let namespace = left.popFirst() {
        parts = try ranges(of: namespace).map { (range: $0, namespace: namespace) }[...]
      } else if let (key, holders) = try nextFromInput() {
        parts = holders.map { (range: KeyRange.key(key), namespace: $0) }[...]
      } else {
        return nil
      }
    }
    return parts.first
  }

  private mutating func endPart() {
    parts.removeFirst()
    last = nil
  }

  /// The ranges of a namespace that must be read, in the order in which the walk reads them.
  private func ranges(of namespace: Store.Namespace) throws -> [KeyRange] {
    var ranges = selection.ranges
    let isOpen = ranges.contains { if case .prefix = $0 { true } else { false } }
    if isOpen, let keys = try indexedKeys(of: namespace) {
      ranges =
        Set(keys).filter { key in test.passesKey(key) && ranges.contains { $0.contains(key) } }
        .sorted { $0.lexicographicallyPrecedes($1) }.map(KeyRange.key)
    }
    ranges.removeAll { if case .key(let key) = $0 { !isBehindStart(key) } else { false } }
    return selection.isReversed ? ranges.reversed() : ranges
  }

  /// The keys of all entries that can meet the conditions, if an index has few such keys. Otherwise nil.
  private func indexedKeys(of namespace: Store.Namespace) throws -> [[UInt8]]? {
    for condition in selection.conditions {
      var keys: [[UInt8]]?
      if let tag = condition.tag {
        keys = try namespace.keys(taggedWith: tag, atMost: Self.mostIndexed)
      } else if condition == .isExpired {
        keys = try namespace.keys(endingBy: now, atMost: Self.mostIndexed)
      } else if condition.needsExpiry {
        // A deadline in the index may be the end of a stale window, after the tested expiry. So all deadlines are read.
        let end = Timestamp(milliseconds: .max)
        keys = try namespace.keys(endingBy: end, atMost: Self.mostIndexed)
      }
      if let keys { return keys }
    }
    return nil
  }

  /// Visits a range. Returns false if `take` wants no further entries.
  private mutating func visit(
    _ range: KeyRange, of namespace: Store.Namespace, _ take: Take
  ) throws -> Bool {
    switch range {
    case .key(let key):
      endPart()
      return try visit(key, of: namespace, take)
    case .prefix(let prefix) where selection.isReversed:
      while true {
        let keys = try namespace.lastKeys(
          prefix: prefix, before: last ?? selection.after, atMost: Self.batch)
        for key in keys {
          last = key
          if try test.passesKey(key) && !visit(key, of: namespace, take) { return false }
        }
        if keys.count < Self.batch { break }
      }
      endPart()
      return true
    case .prefix(let prefix): return try scan(prefix, of: namespace, take)
    }
  }

  private mutating func scan(
    _ prefix: [UInt8], of namespace: Store.Namespace, _ take: Take
  ) throws -> Bool {
    func hasKey(_ key: [UInt8]) throws -> Bool {
      try checkInterruption()
      return test.passesKey(key)
    }
    let start = try (last ?? selection.after).map { try namespace.cursor(after: $0) }
    var wantsMore = true
    try namespace.scanEntries(
      prefix: prefix, after: start, includingExpired: seesExpired, readsValues: readsValues,
      damaged: walked.addDamage, whereKey: hasKey, where: test.passesFacts
    ) { entry, value in
      guard try test.passesValue(entry, value) else { return true }
      wantsMore = try take(entry, value)
      if !wantsMore { last = entry.key.bytes }
      return wantsMore
    }
    if wantsMore { endPart() }
    return wantsMore
  }

  /// Whether a key comes after the key of `--after`, in the order of the walk.
  private func isBehindStart(_ key: [UInt8]) -> Bool {
    guard let start = selection.after else { return true }
    return selection.isReversed
      ? key.lexicographicallyPrecedes(start) : start.lexicographicallyPrecedes(key)
  }

  /// Visits the entry under a key, if there is an entry that passes. Returns false if `take` wants no further entries.
  private func visit(_ key: [UInt8], of namespace: Store.Namespace, _ take: Take) throws -> Bool {
    func isWanted(_ entry: Store.Entry) throws -> Bool {
      try isSeen(entry) && test.passesFacts(entry)
    }
    try checkInterruption()
    return try namespace.withEntry(
      for: key, readsValue: readsValues, damaged: walked.addDamage, where: isWanted
    ) { entry, value in
      try !test.passesValue(entry, value) || take(entry, value)
    } ?? true
  }

  private func isSeen(_ entry: Store.Entry) -> Bool { entry.state != .expired || seesExpired }

  /// The next key from standard input that has an entry, with the namespaces of its entries.
  private mutating func nextFromInput() throws -> (key: [UInt8], holders: [Store.Namespace])? {
    while let item = try input?.next() {
      try checkInterruption()
      walked.keys += 1
      // A pattern of the command already finds this key, so the key from standard input is skipped.
      if !isBehindStart(item.key) || selection.patterns.contains(where: { $0.matches(item.key) }) {
        continue
      }
      let damaged = walked.damaged
      let asked = item.namespace.map { named[ExactString($0)].map { [$0] } ?? [] } ?? namespaces
      let holders = try asked.filter { namespace in
        try namespace.withEntry(
          for: item.key, readsValue: false, damaged: walked.addDamage
        ) { entry, _ in isSeen(entry) } ?? false
      }
      guard holders.isEmpty else { return (item.key, holders) }
      if walked.damaged == damaged { walked.absent += 1 }
    }
    return nil
  }
}
