import Larder
import ShellLanguage

/// Finds the entries of a selection, some at a time, in the order of keys.
///
/// No snapshot is held between two calls, so the result as a whole is not one snapshot of the store.
struct SelectionWalk {
  private let namespaces: [Store.Namespace]
  private let ranges: [KeyRange]
  private let patterns: [Selection.Pattern]
  private let test: EntryTest
  private let seesExpired: Bool
  private let first: [UInt8]?
  private let checkInterruption: () throws -> Void
  private var input: IncomingKeys?
  /// The position: finished namespaces and ranges, and the last key of the present range.
  private var namespacesDone = 0
  private var rangesDone = 0
  private var last: [UInt8]?
  /// Entries under a key from standard input, up to one in each namespace.
  private var pending: [(entry: Store.Entry, namespace: Store.Namespace)] = []
  private(set) var piped = PipedKeys()
  /// The damaged entries that were passed over.
  private(set) var damaged = 0

  /// - Parameter includingExpired: Expired entries are found, too, if the filters allow it.
  init(
    _ selection: Selection, in namespaces: [Store.Namespace], for session: Session,
    includingExpired: Bool = false
  ) throws {
    self.namespaces = namespaces
    ranges = selection.ranges
    patterns = selection.patterns
    test = try EntryTest(selection, session.queries)
    seesExpired = includingExpired || test.seesExpired
    first = selection.after
    checkInterruption = session.host.checkInterruption
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

  /// Hands out the next entries until `take` returns false.
  ///
  /// - Parameter readingValues: `take` needs values; otherwise they may be empty.
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
      // An entry that was removed meanwhile or has a damaged value is none: its value would seem to be empty.
      let wantsMore =
        try readingValues
        ? namespace.lookUp(entry.key.bytes, damaged: &damaged, take) : take(entry, Span())
      if wantsMore == false { return }
    }
  }

  /// Visits a range; false if `take` has enough.
  private mutating func visit(
    _ range: KeyRange, of namespace: Store.Namespace, _ readingValues: Bool,
    _ take: (Store.Entry, Span<UInt8>) throws -> Bool
  ) throws -> Bool {
    var wantsMore = true
    var reached: [UInt8]?
    switch range {
    case .key(let key):
      if first.map({ $0.lexicographicallyPrecedes(key) }) ?? true,
        let answer = try visit(key, of: namespace, readingValues, take)
      {
        wantsMore = answer
      }
    case .prefix(let prefix):
      let (test, checkInterruption) = (test, checkInterruption)
      let hasKey = { (key: [UInt8]) throws -> Bool in
        try checkInterruption()
        return test.passesKey(key)
      }
      var damaged = 0
      func noteDamage() { damaged += 1 }
      defer { self.damaged += damaged }
      let start = try (last ?? first).map { try namespace.cursor(after: $0) }
      try namespace.scanEntries(
        prefix: prefix, after: start, includingExpired: seesExpired,
        readsValues: readingValues || test.readsValues, damaged: noteDamage,
        whereKey: hasKey, where: test.passesFacts
      ) { entry, value in
        guard try test.passesValue(entry, value) else { return true }
        wantsMore = try take(entry, value)
        if !wantsMore { reached = entry.key.bytes }
        return wantsMore
      }
    }
    last = reached
    if reached == nil { rangesDone += 1 }
    return wantsMore
  }

  /// Visits the entry under one key in one lookup; nil if it does not pass.
  private mutating func visit(
    _ key: [UInt8], of namespace: Store.Namespace, _ readingValues: Bool,
    _ take: (Store.Entry, Span<UInt8>) throws -> Bool
  ) throws -> Bool? {
    guard readingValues || test.readsValues else {
      return try find(key, in: namespace).map { try take($0, Span()) }
    }
    try checkInterruption()
    if let unreadable = test.unreadable, let entry = try namespace.entry(for: key),
      entry.state != .expired || seesExpired, try unreadable.take(entry)
    {
      return nil
    }
    let (test, seesExpired) = (test, seesExpired)
    return try namespace.lookUp(key, damaged: &damaged) { entry, value in
      guard entry.state != .expired || seesExpired, try test.passesFilters(entry, value) else {
        return nil
      }
      return try take(entry, value)
    } ?? nil
  }

  private func find(_ key: [UInt8], in namespace: Store.Namespace) throws -> Store.Entry? {
    try checkInterruption()
    guard let entry = try namespace.entry(for: key), entry.state != .expired || seesExpired,
      try test.passesFacts(entry)
    else { return nil }
    guard test.readsValues else { return entry }
    return try namespace.lookUp(key) { entry, value in
      try test.passesValue(entry, value) ? entry : nil
    } ?? nil
  }

  /// Whether the words of the command have named a key of standard input before.
  private func isVisited(_ key: [UInt8]) -> Bool {
    patterns.contains { $0.matches(key) } && (first?.lexicographicallyPrecedes(key) ?? true)
  }

  private mutating func nextFromInput() throws -> (entry: Store.Entry, namespace: Store.Namespace)?
  {
    while pending.isEmpty {
      guard let key = try input?.next() else { return nil }
      piped.count += 1
      if isVisited(key) { continue }
      for namespace in namespaces.reversed() {
        if let entry = try find(key, in: namespace) { pending.append((entry, namespace)) }
      }
      if pending.isEmpty, try namespaces.allSatisfy({ try $0.entry(for: key) == nil }) {
        piped.absent += 1
      }
    }
    return pending.removeLast()
  }
}

extension Store.Entry {
  /// Without the parts that lists and changes do not need and that can be as large as values.
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

extension Store.Namespace {
  /// Keys up to this length sort before all longer keys that begin with them.
  private static let sortedLength = 200

  /// Lends the entry under exactly this key, expired or not, and its value, in one lookup.
  ///
  /// Unlike a read by the application it counts nothing and removes nothing.
  func lookUp<Result>(
    _ key: [UInt8], _ body: (Store.Entry, Span<UInt8>) throws -> Result
  ) throws -> Result? {
    var damaged = 0
    return try lookUp(key, damaged: &damaged, body)
  }

  /// - Parameter damaged: one more if the entry, or one in the place where it would be, is damaged.
  func lookUp<Result>(
    _ key: [UInt8], damaged: inout Int, _ body: (Store.Entry, Span<UInt8>) throws -> Result
  ) throws -> Result? {
    var result: Result?
    var passed = 0
    func noteDamage() { passed += 1 }
    try scanEntries(
      prefix: key, includingExpired: true, readsValues: true, damaged: noteDamage
    ) { entry, value in
      // Very long keys are stored by a hash behind their beginning, so that others may come first.
      guard entry.key.bytes == key else { return key.count > Self.sortedLength }
      result = try body(entry, value)
      return false
    }
    if result == nil, passed > 0 { damaged += 1 }
    return result
  }

  /// Scans up to the first value that this program cannot read, such as an encrypted one.
  func scanReadable(_ visit: (Store.Entry, Span<UInt8>) throws -> Bool) throws {
    do {
      try scan(visit)
    } catch let error as LarderError where error.code == .unreadable {
      return
    }
  }
}
