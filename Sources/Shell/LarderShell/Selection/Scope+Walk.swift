import Larder
import ShellLanguage

/// The keys and entries that a walk has met.
final class Walked {
  /// The number of entries that the walk has seen. If the walk had to sort the entries, entries beyond the limit count, too.
  var found = 0
  /// The number of keys from standard input, and the number of these keys that are in no namespace.
  var keys = 0
  var absent = 0
  private(set) var damaged = 0

  func addDamage() { damaged += 1 }

  func note(_ host: Host) throws {
    try noteAbsent(host)
    try noteDamage(host)
  }

  func noteAbsent(_ host: Host) throws {
    if absent > 0 { try host.notify("note: \(ChangeSummary.notFound(absent))") }
  }

  func noteDamage(_ host: Host) throws {
    guard damaged > 0 else { return }
    let entries = Wording.count(damaged, "damaged entry was", "damaged entries were")
    try host.notify("note: \(entries) left out; `verify` lists the damage")
  }

  /// Throws if a key from standard input has no entry, or a damaged entry.
  func checkKeys() throws(ShellError) {
    guard keys > 0, absent + damaged > 0 else { return }
    throw ShellError(
      damaged > 0 ? .unreadable : .noSuchKey,
      damaged > 0
        ? "not all entries could be read"
        : "\(Wording.count(absent)) of \(Wording.count(keys, "key", "keys")) not found",
      hint: "the others are above")
  }
}

extension Scope {
  /// A batch is small, so that other writers do not wait long and ^C takes effect soon.
  private static let entriesPerBatch = 500
  private static let bytesPerBatch = 16_000_000
  private static let valuesPerBatch = 4_000_000

  /// Reads the entries of the selection in its order and within its limit. Gives the results of `read` to `body`, a batch at a
  /// time, while `wantsMore` returns true. If `readingValues` is false, the values may be empty. If `readingExtras` is also
  /// false, the entries may lack the parts that ``Store/Entry/withoutExtras`` omits.
  ///
  /// In the order of keys, only one batch is in memory. For another order, the entries within the limit are in memory. No
  /// snapshot is held while `body` runs. An interruption ends the walk.
  @discardableResult
  func walk<Item>(
    showing verb: String? = nil, readingValues: Bool = false, readingExtras: Bool = false,
    includingExpired: Bool = false, _ read: (Store.Entry, Span<UInt8>) throws -> Item?,
    _ body: ([Item]) throws -> Void, while wantsMore: () -> Bool = { true }
  ) throws -> Walked {
    guard selection.most > 0 else { return Walked() }
    return try ProgressLine.show(verb, of: verb.map { _ in try total() }, in: session) { progress in
      let order = EntryOrder(selection)
      var selection = selection
      if order != nil { selection.isReversed = false }
      var walk = try SelectionWalk(
        selection, in: namespaces, for: session, input: input,
        readingValues: order?.readsValue ?? readingValues, includingExpired: includingExpired)
      let walked = walk.walked
      var sorted: ArraySlice<Ranked> = []
      if let order {
        var first = FirstOf<Ranked>(
          most: selection.most, pause: session.host.checkInterruption, precedes: order.precedes)
        try walk.advance { entry, value in
          try first.add(order.ranked(entry, value, session.queries))
          if first.count % Self.entriesPerBatch == 0 {
            try progress.advance(by: Self.entriesPerBatch)
          }
          return true
        }
        walked.found = first.count
        sorted = try first.sorted()[...]
      }
      /// Gives the next entries to `take` until `take` returns false.
      func next(_ take: SelectionWalk.Take) throws {
        guard order != nil else { return try walk.advance(take) }
        while let entry = sorted.popFirst()?.entry {
          try session.host.checkInterruption()
          let namespace = session.store.namespace(entry.namespace)
          let wantsMore =
            try readingValues || readingExtras
            ? namespace.withEntry(
              for: entry.key, readsValue: readingValues, damaged: walked.addDamage, take)
            : take(entry, Span())
          if wantsMore == false { return }
        }
      }
      var found = 0
      while found < selection.most {
        var items: [Item] = []
        var (entries, room) = (0, readingValues ? Self.valuesPerBatch : Self.bytesPerBatch)
        try next { entry, value in
          entries += 1
          found += 1
          room -= readingValues ? max(entry.storedSize, value.count) : entry.storedSize
          if let item = try read(entry, value) { items.append(item) }
          return entries < Self.entriesPerBatch && room > 0 && found < selection.most
        }
        if !items.isEmpty {
          try body(items)
          if !wantsMore() { break }
        }
        if entries == 0 { break }
        if order == nil { try progress.advance(by: entries) }
      }
      if order == nil { walked.found = found }
      return walked
    }
  }

  @discardableResult
  func visitEntries(
    showing verb: String? = nil, includingExpired: Bool = false,
    _ body: (Store.Entry) throws -> Void
  ) throws -> Walked {
    try walk(showing: verb, includingExpired: includingExpired) { entry, _ in
      entry.withoutExtras
    } _: {
      for entry in $0 { try body(entry) }
    }
  }

  /// Visits the entries together with all values of each operand. Only the values of the operands are kept in memory.
  func forEachQueried(
    _ operands: [QueryOperand], _ body: (Store.Entry, [[QueryValue]]) throws -> Void
  ) throws {
    try walk(
      showing: "reading", readingValues: operands.contains(where: \.readsValue),
      readingExtras: operands.contains(where: \.readsExtras)
    ) { entry, value in
      (entry.withoutExtras, session.queries.allValues(operands, for: .column, entry, value))
    } _: { items in
      for (entry, values) in items { try body(entry, values) }
    }.note(session.host)
  }

  /// The entries of the selection with their bytes, and separately the expired entries. Uses the store's counters if possible.
  func tally() throws -> (fresh: Tally, expired: Tally) {
    guard try isCounted() else {
      var (fresh, expired) = (Tally(), Tally())
      try visitEntries(showing: "counting", includingExpired: selection.limit == nil) {
        if $0.state == .expired { expired.add($0) } else { fresh.add($0) }
      }.note(session.host)
      return (fresh, expired)
    }
    let expired = try expired()
    let all = try namespaces.map { try session.info(of: $0.name) }.tally
    return (all - expired, expired)
  }

  /// The entries of the namespaces that have expired and are still in the file.
  func expired() throws -> Tally {
    var due = Scope(all: namespaces, in: session)
    due.selection.filters = [.isExpired]
    var tally = Tally()
    try due.visitEntries { tally.add($0) }
    return tally
  }

  /// Whether the counters of the namespaces give the answer. The selection must have all entries, and no value among the first
  /// hundred entries of each namespace may be transformed, for example compressed.
  func isCounted() throws -> Bool {
    guard selection.patterns.isEmpty, selection.filters.isEmpty, selection.input == nil,
      selection.limit == nil, selection.after == nil
    else { return false }
    return try namespaces.allSatisfy {
      try $0.page(limit: 100).items.allSatisfy { $0.transforms.isEmpty }
    }
  }
}
