import Larder
import ShellLanguage

extension Scope {
  /// A batch is small, so that other writers get their turn and ^C takes effect soon.
  private static let changesPerBatch = 500
  private static let bytesPerBatch = 16_000_000

  /// Hands the entries of a selection out in batches that one transaction can change.
  ///
  /// - Returns: The keys from standard input.
  func forEachBatch(_ body: ([Store.Entry]) throws -> Void) throws -> PipedKeys {
    try forEachEntries { entries in
      for batch in Self.cut(entries) { try body(batch) }
    }
  }

  /// Hands the entries of a selection out some at a time, in its order and within its limit. No snapshot
  /// is held while `body` runs.
  ///
  /// - Returns: The keys from standard input.
  @discardableResult
  func forEachEntries(
    includingExpired: Bool = false, _ body: ([Store.Entry]) throws -> Void
  ) throws -> PipedKeys {
    let most = selection.most
    var list = try Listing(
      self, as: .expiry(namesNamespaces: false), most: most, includingExpired: includingExpired)
    try list.handOut(atMost: most, body)
    return list.piped
  }

  /// The list of a scope, of which a copy can be walked before another: the entries of keys from standard input are kept.
  ///
  /// - Parameter most: The largest number of entries that will be needed; nil if unknown.
  func repeatableList(as form: EntryForm, most: Int? = nil) throws -> Listing {
    var list = try Listing(self, as: form, most: most)
    if list.isOnce { try list.keepAll() }
    return list
  }

  /// Hands out what `read` makes of the entries of a selection and their values, at most a few megabytes
  /// of values at a time. No snapshot is held while `body` runs; it returns false to stop.
  ///
  /// - Returns: The keys from standard input, and how many damaged entries were passed over.
  @discardableResult
  func forEachValue<Item>(
    read: (Store.Entry, Span<UInt8>) throws -> Item, _ body: ([Item]) throws -> Bool
  ) throws -> (piped: PipedKeys, damaged: Int) {
    var left = selection.most
    var list = try Listing(self, as: .expiry(namesNamespaces: false), most: left)
    while left > 0 {
      var items: [Item] = []
      var room = Self.bytesPerBatch / 4
      try list.advance(in: session.store) { entry, value in
        try session.host.checkInterruption()
        items.append(try read(entry, value))
        room -= entry.storedSize
        return items.count < min(left, Self.changesPerBatch) && room > 0
      }
      guard !items.isEmpty, try body(items) else { break }
      left -= items.count
    }
    return (list.piped, list.damaged)
  }

  /// Visits the values, at most a few megabytes at a time.
  ///
  /// - Returns: The keys from standard input.
  func forEachStoredValue(_ body: (StoredValue) throws -> Void) throws -> PipedKeys {
    try forEachValue { entry, value in
      entry.hasValue || selection.wantsExpired
        ? StoredValue(entry: entry, bytes: value.bytes) : nil
    } _: { values in
      for case let value? in values { try body(value) }
      return true
    }.piped
  }

  /// Visits the entries with all values of each operand. Only the operands are kept.
  func forEachQueried(
    _ operands: [QueryOperand], _ body: (Store.Entry, [[QueryValue]]) throws -> Void
  ) throws {
    let queries = session.queries
    try ProgressLine.show("reading", of: total(), in: session) { progress in
      try forEachValue { entry, value in
        (entry.withoutExtras, queries.allValues(operands, for: .column, entry, value))
      } _: { items in
        for (entry, values) in items { try body(entry, values) }
        try progress.advance(by: items.count)
        return true
      }
    }
  }

  /// Cuts a batch where its values are large: a change may have to rewrite them.
  private static func cut(_ entries: [Store.Entry]) -> [[Store.Entry]] {
    var batches: [[Store.Entry]] = []
    var room = 0
    for entry in entries {
      if entry.storedSize > room || batches.isEmpty {
        batches.append([])
        room = bytesPerBatch
      }
      batches[batches.count - 1].append(entry)
      room -= entry.storedSize
    }
    return batches
  }
}
