import Larder
import LarderSystem
import ShellLanguage

/// Finds the entries of a selection a few at a time, in the order of keys or in the reverse order. The patterns and conditions
/// decide which ranges of keys, or which keys of an index, are read. No snapshot is held between two calls.
struct SelectionWalk {
  /// If an index has more than `mostIndexed` entries, a walk through all entries is faster.
  private static let mostIndexed = 10_000
  /// The number of keys that are read at a time in reverse order.
  private static let batch = 500

  private let namespaces: [Store.Namespace]
  private let selection: Selection
  private let test: EntryTest
  private let seesExpired: Bool
  private let readsValues: Bool
  private let isReversed: Bool
  private let now: Timestamp
  private let checkInterruption: () throws -> Void
  private var input: IncomingKeys?
  /// The position of the walk: the finished namespaces, the ranges left in the present namespace, and the last key.
  private var namespacesDone = 0
  private var ranges: ArraySlice<KeyRange>?
  private var last: [UInt8]?
  /// A key from standard input, and the namespaces that have the key and are still to be read. Nil between two keys.
  private var pending: (key: [UInt8], namespaces: ArraySlice<Store.Namespace>)?
  private(set) var piped = PipedKeys()
  private(set) var damaged = 0

  /// - Parameters:
  ///   - input: The keys of standard input, if they were already read.
  ///   - readingValues: Whether ``advance(_:)`` gives the values. Otherwise the values may be empty.
  ///   - includingExpired: Whether expired entries that meet the filters are found, too.
  init(
    _ selection: Selection, in namespaces: [Store.Namespace], for session: Session,
    input: IncomingKeys? = nil, readingValues: Bool = false, includingExpired: Bool = false
  ) throws {
    self.selection = selection
    isReversed = selection.isReversed
    self.namespaces = isReversed ? namespaces.reversed() : namespaces
    test = EntryTest(selection, session.queries)
    seesExpired = includingExpired || test.seesExpired
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
    var damaged = 0
    func noteDamage() { damaged += 1 }
    defer { self.damaged += damaged }
    while found.count < most, let (range, namespace) = try nextRange() {
      guard case .prefix(let prefix) = range else { preconditionFailure("a key has facts") }
      let (test, checkInterruption) = (test, checkInterruption)
      let start = try (last ?? selection.after).map { try namespace.cursor(after: $0) }
      try namespace.scanKeys(prefix: prefix, after: start, damaged: noteDamage) {
        try checkInterruption()
        let key: [UInt8] = $0.bytes
        if test.passesKey(key) { found.append(key) }
        return found.count < most
      }
      if found.count < most { endRange() } else { last = found.last }
    }
    return found
  }

  /// Receives an entry and its value, and returns whether the walk continues.
  typealias Take = (Store.Entry, Span<UInt8>) throws -> Bool

  /// Gives the next entries to `take` until `take` returns false.
  mutating func advance(_ take: Take) throws {
    while let (range, namespace) = try nextRange() {
      if try !visit(range, of: namespace, take) { return }
    }
    while let (key, namespaces) = try pending ?? nextFromInput() {
      pending = nil
      for (index, namespace) in namespaces.enumerated() {
        guard try visit(key, of: namespace, take) == false else { continue }
        pending = (key, namespaces.dropFirst(index + 1))
        return
      }
    }
  }

  private mutating func nextRange() throws -> (KeyRange, Store.Namespace)? {
    while namespacesDone < namespaces.count {
      let namespace = namespaces[namespacesDone]
      let left = try ranges ?? allRanges(of: namespace)[...]
      ranges = left
      if let range = left.first { return (range, namespace) }
      ranges = nil
      namespacesDone += 1
    }
    return nil
  }

  private mutating func endRange() {
    ranges = ranges?.dropFirst()
    last = nil
  }

  /// The ranges of a namespace that must be read, in the order in which the walk reads them.
  private func allRanges(of namespace: Store.Namespace) throws -> [KeyRange] {
    var ranges = selection.ranges
    let isOpen = ranges.contains { if case .prefix = $0 { true } else { false } }
    if isOpen, let keys = try indexedKeys(of: namespace) {
      ranges =
        Set(keys).filter { key in test.passesKey(key) && ranges.contains { $0.contains(key) } }
        .sorted { $0.lexicographicallyPrecedes($1) }.map(KeyRange.key)
    }
    return isReversed ? ranges.reversed() : ranges
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
      endRange()
      guard isBehindStart(key) else { return true }
      return try visit(key, of: namespace, take) ?? true
    case .prefix(let prefix) where isReversed:
      while true {
        let keys = try namespace.lastKeys(
          prefix: prefix, before: last ?? selection.after, atMost: Self.batch)
        for key in keys {
          last = key
          guard test.passesKey(key) else { continue }
          if try visit(key, of: namespace, take) == false { return false }
        }
        if keys.count < Self.batch { break }
      }
      endRange()
      return true
    case .prefix(let prefix): return try scan(prefix, of: namespace, take)
    }
  }

  private mutating func scan(
    _ prefix: [UInt8], of namespace: Store.Namespace, _ take: Take
  ) throws -> Bool {
    let (test, checkInterruption) = (test, checkInterruption)
    let hasKey = { (key: [UInt8]) throws -> Bool in
      try checkInterruption()
      return test.passesKey(key)
    }
    var reached: [UInt8]?
    var damaged = 0
    func noteDamage() { damaged += 1 }
    defer { self.damaged += damaged }
    let start = try (last ?? selection.after).map { try namespace.cursor(after: $0) }
    try namespace.scanEntries(
      prefix: prefix, after: start, includingExpired: seesExpired, readsValues: readsValues,
      damaged: noteDamage, whereKey: hasKey, where: test.passesFacts
    ) { entry, value in
      guard try test.passesValue(entry, value) else { return true }
      let wantsMore = try take(entry, value)
      if !wantsMore { reached = entry.key.bytes }
      return wantsMore
    }
    guard let reached else {
      endRange()
      return true
    }
    last = reached
    return false
  }

  /// Whether a key comes after the key of `--after`, in the order of the walk.
  private func isBehindStart(_ key: [UInt8]) -> Bool {
    guard let start = selection.after else { return true }
    return isReversed ? key.lexicographicallyPrecedes(start) : start.lexicographicallyPrecedes(key)
  }

  /// Visits the entry under a key. Returns nil if there is no entry, or if the entry does not pass.
  private mutating func visit(
    _ key: [UInt8], of namespace: Store.Namespace, _ take: Take
  ) throws -> Bool? {
    try checkInterruption()
    let (test, seesExpired) = (test, seesExpired)
    func isWanted(_ entry: Store.Entry) throws -> Bool {
      try (entry.state != .expired || seesExpired) && test.passesFacts(entry)
    }
    var damaged = 0
    func noteDamage() { damaged += 1 }
    defer { self.damaged += damaged }
    return try namespace.withEntry(
      for: key, readsValue: readsValues, damaged: noteDamage, where: isWanted
    ) { entry, value -> Bool? in
      try test.passesValue(entry, value) ? take(entry, value) : nil
    } ?? nil
  }

  private mutating func nextFromInput() throws -> (
    key: [UInt8], namespaces: ArraySlice<Store.Namespace>
  )? {
    while let item = try input?.next() {
      try checkInterruption()
      piped.count += 1
      // A pattern of the command already finds this key, so the key from standard input is skipped.
      if selection.patterns.contains(where: { $0.matches(item.key) }), isBehindStart(item.key) {
        continue
      }
      let holders = try namespaces.filter {
        try item.namespace.map($0.name.isExactly) ?? true && $0.holds(item.key, seesExpired)
      }
      guard holders.isEmpty else { return (item.key, holders[...]) }
      piped.absent += 1
    }
    return nil
  }
}
