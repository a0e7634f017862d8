import Larder
import ShellLanguage

/// The entries of a selection in the order asked for, some at a time.
///
/// In the order of keys nothing is kept; any other order needs the facts of all of them.
struct Listing {
  private enum Supply {
    case walk(SelectionWalk)
    case kept(ArraySlice<Store.Entry>)
  }

  let form: EntryForm
  /// Its entries come once: they depend on standard input.
  let isOnce: Bool
  private var supply: Supply
  /// How many keys from outside there are not.
  private(set) var absent = 0

  /// - Parameters:
  ///   - form: How its entries are written.
  ///   - most: How many will be asked for at most; nil if that is not known.
  init(
    _ selection: Selection, in namespaces: [Store.Namespace], for session: Session,
    as form: EntryForm,
    most: Int? = nil, includingExpired: Bool = false
  ) throws {
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
    // Behind a key is, backwards, before it.
    all.after = nil
    var walk = try SelectionWalk(
      all, in: namespaces, for: session, includingExpired: includingExpired)
    var kept: [Store.Entry] = []
    while case let found = try walk.next(1000), !found.isEmpty {
      kept += found.filter { order.isBehindStart($0) }
      if let most, kept.count / 2 - 500 > most {
        kept.sort(by: order.precedes)
        kept.removeLast(kept.count - most)
      }
    }
    kept.sort(by: order.precedes)
    supply = .kept(kept[...])
    absent = walk.absent
  }

  /// Hands out the next entries with their values until `take` has enough and answers false; what
  /// has gone since it was sorted is passed over.
  mutating func advance(
    in store: Store, _ take: (Store.Entry, Span<UInt8>) throws -> Bool
  ) throws {
    switch supply {
    case .walk(var walk):
      defer {
        absent = walk.absent
        supply = .walk(walk)
      }
      try walk.advance(readingValues: true, take)
    case .kept(var entries):
      defer { supply = .kept(entries) }
      while let entry = entries.popFirst() {
        let key = entry.key.bytes
        if try store.namespace(entry.namespace).lookUp(key, take) == false { return }
      }
    }
  }

  /// The next entries, at most so many; none at the end.
  mutating func next(_ most: Int) throws -> [Store.Entry] {
    switch supply {
    case .walk(var walk):
      let found = try walk.next(most)
      supply = .walk(walk)
      absent = walk.absent
      return found
    case .kept(let entries):
      supply = .kept(entries.dropFirst(most))
      return Array(entries.prefix(most))
    }
  }
}

/// An order of entries other than that of the keys.
struct EntryOrder {
  private let sort: Selection.Sort
  private let isReversed: Bool
  private let after: [UInt8]?

  /// Nil if entries come in that order by themselves.
  init?(_ selection: Selection) {
    guard selection.isReversed || (selection.sort ?? .key) != .key else { return nil }
    sort = selection.sort ?? .key
    isReversed = selection.isReversed
    after = selection.after
  }

  func precedes(_ a: Store.Entry, _ b: Store.Entry) -> Bool {
    isReversed ? ascends(b, a) : ascends(a, b)
  }

  /// Whether an entry lies behind the key that the list begins with.
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
