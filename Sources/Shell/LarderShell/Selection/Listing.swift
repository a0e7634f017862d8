import Larder
import ShellLanguage

/// The entries of a selection in the requested order, some at a time.
///
/// The order of keys keeps nothing in memory; any other order keeps the facts of all entries.
struct Listing {
  private enum Supply {
    case walk(SelectionWalk)
    case kept(ArraySlice<Ranked>)
  }

  let form: EntryForm
  /// Its keys come from standard input, which can be read once.
  let isOnce: Bool
  private var supply: Supply
  private(set) var piped = PipedKeys()
  /// The damaged entries that were passed over.
  private(set) var damaged = 0

  /// - Parameters:
  ///   - form: The form of its rows.
  ///   - most: The largest number of entries that will be needed; nil if unknown.
  init(
    _ scope: Scope, as form: EntryForm, most: Int? = nil, includingExpired: Bool = false
  ) throws {
    let (selection, namespaces, session) = (scope.selection, scope.namespaces, scope.session)
    self.form = form
    isOnce = selection.input != nil
    let order = EntryOrder(selection)
    guard let order else {
      supply = .walk(
        try SelectionWalk(
          selection, in: namespaces, for: session, includingExpired: includingExpired))
      return
    }
    var all = selection
    // In reverse order, `--after` means before the key.
    all.after = nil
    var walk = try SelectionWalk(
      all, in: namespaces, for: session, includingExpired: includingExpired)
    var kept: [Ranked] = []
    let queries = session.queries
    var isAtEnd = false
    while !isAtEnd {
      var found: [Ranked] = []
      try walk.advance(readingValues: order.readsValue) { entry, value in
        guard order.isBehindStart(entry) else { return true }
        let rank =
          order.operand.map {
            order.rank(queries.allValues([$0], for: .order, entry, value)[0])
          } ?? .null
        found.append(Ranked(entry: entry.withoutExtras, value: rank))
        return found.count < 1000
      }
      isAtEnd = found.isEmpty
      kept += found
      if let most, kept.count / 2 - 500 > most {
        kept.sort(by: order.precedes)
        kept.removeLast(kept.count - most)
      }
    }
    kept.sort(by: order.precedes)
    supply = .kept(kept[...])
    piped = walk.piped
    damaged = walk.damaged
  }

  /// Hands out the next entries with their values until `take` returns false. Entries that were removed
  /// since they were sorted are skipped.
  mutating func advance(
    in store: Store, _ take: (Store.Entry, Span<UInt8>) throws -> Bool
  ) throws {
    switch supply {
    case .walk(var walk):
      defer {
        piped = walk.piped
        damaged = walk.damaged
        supply = .walk(walk)
      }
      try walk.advance(readingValues: true, take)
    case .kept(var entries):
      defer { supply = .kept(entries) }
      while let entry = entries.popFirst()?.entry {
        let key = entry.key.bytes
        if try store.namespace(entry.namespace).lookUp(key, damaged: &damaged, take) == false {
          return
        }
      }
    }
  }

  /// The next entries, at most so many; empty at the end.
  mutating func next(_ most: Int) throws -> [Store.Entry] {
    switch supply {
    case .walk(var walk):
      let found = try walk.next(most)
      supply = .walk(walk)
      piped = walk.piped
      damaged = walk.damaged
      return found
    case .kept(let entries):
      supply = .kept(entries.dropFirst(most))
      return entries.prefix(most).map(\.entry)
    }
  }
}

extension Listing {
  /// The entries that are handed out at a time.
  private static let batch = 500

  /// Hands the next entries out some at a time.
  mutating func handOut(atMost most: Int = .max, _ body: ([Store.Entry]) throws -> Void) throws {
    var left = most
    while left > 0 {
      let entries = try next(min(left, Self.batch))
      if entries.isEmpty { break }
      left -= entries.count
      try body(entries)
    }
  }

  /// Reads all of its entries, so that copies of it can be walked.
  mutating func keepAll() throws {
    var kept: [Ranked] = []
    try handOut { kept += $0.map { Ranked(entry: $0, value: .null) } }
    supply = .kept(kept[...])
  }
}

/// An entry with the value of the operand that it is sorted by.
struct Ranked: Equatable {
  let entry: Store.Entry
  let value: QueryValue
}

/// An order of entries other than that of the keys.
struct EntryOrder {
  private let sort: Selection.Sort
  private let isReversed: Bool
  private let after: [UInt8]?

  /// Nil for the order of keys.
  init?(_ selection: Selection) {
    guard selection.isReversed || (selection.sort ?? .key) != .key else { return nil }
    sort = selection.sort ?? .key
    isReversed = selection.isReversed
    after = selection.after
  }

  /// The operand of `--sort`; nil for a fact.
  var operand: QueryOperand? { if case .operand(let operand) = sort { operand } else { nil } }

  var readsValue: Bool { operand?.readsValue ?? false }

  /// The value that an entry is sorted by: of several elements the smallest, in reverse the largest.
  func rank(_ values: [QueryValue]) -> QueryValue {
    (isReversed ? values.max { $0.precedes($1) } : values.min { $0.precedes($1) }) ?? .null
  }

  func precedes(_ a: Ranked, _ b: Ranked) -> Bool {
    let (a, b) = isReversed ? (b, a) : (a, b)
    if operand != nil, a.value != b.value {
      if a.value.precedes(b.value) { return true }
      if b.value.precedes(a.value) { return false }
    }
    return ascends(a.entry, b.entry)
  }

  /// Whether an entry comes after the key of `--after`.
  func isBehindStart(_ entry: Store.Entry) -> Bool {
    guard let after else { return true }
    let key = entry.key.bytes
    return sort == .key && isReversed
      ? key.lexicographicallyPrecedes(after) : after.lexicographicallyPrecedes(key)
  }

  private func ascends(_ a: Store.Entry, _ b: Store.Entry) -> Bool {
    switch sort {
    case .size where a.size != b.size: a.size < b.size
    case .expiry where a.expires != b.expires:
      (a.expires?.milliseconds ?? .max) < (b.expires?.milliseconds ?? .max)
    case .written where a.written != b.written: a.written < b.written
    case .used where a.lastUse != b.lastUse: a.lastUse < b.lastUse
    default: (a.namespace, a.key) < (b.namespace, b.key)
    }
  }
}
