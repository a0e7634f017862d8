import Larder
import ShellLanguage

extension Session {
  /// What changes an entry within a batch; whether it did.
  typealias Change = (_ batch: inout WriteBatch, _ namespace: Store.Namespace, _ entry: Store.Entry)
    throws ->
    Bool

  /// A batch is small, so that others get to write in between and ^C is heard.
  private static let changesPerBatch = 500
  private static let bytesPerBatch = 16_000_000

  /// Changes the entries of a selection, a transaction for each batch.
  ///
  /// An entry that was chosen by a filter and written again since is another one, and stays as it is.
  /// Interrupted, it stops between batches and says what was done.
  ///
  /// - Parameter done: The verb as it has been, for that: `evicted`.
  func change(
    _ selection: Selection, in namespaces: [Store.Namespace], verb: String, done: String,
    _ change: Change
  ) throws -> Acknowledgement {
    var acknowledgement = Acknowledgement(verb)
    for namespace in namespaces { acknowledgement.begin(namespace.name) }
    do {
      let absent = try forEachBatch(of: selection, in: namespaces) { entries in
        let tallies = try store.write { batch in
          var tallies: [String: Tally] = [:]
          for entry in entries {
            let namespace = store.namespace(entry.namespace)
            guard let present = try batch.entry(for: entry.key, in: namespace),
              selection.filters.isEmpty
                || (present.version, present.expires) == (entry.version, entry.expires)
            else { continue }
            if try change(&batch, namespace, present) {
              tallies[entry.namespace, default: Tally()].add(present)
            }
          }
          return tallies
        }
        for (name, tally) in tallies { acknowledgement.add(tally, in: name) }
        if host.isInterrupted() { throw Interruption() }
      }
      try tell(absent, of: selection, in: &acknowledgement)
    } catch is Interruption {
      throw ShellError(
        .interrupted, "interrupted: \(acknowledgement.total.words) \(done)",
        hint: "the rest is as it was")
    }
    return acknowledgement
  }

  /// What a change would be about, and the first keys of it.
  func preview(
    _ selection: Selection, in namespaces: [Store.Namespace], verb: String
  ) throws -> (Acknowledgement, keys: [Key]) {
    var acknowledgement = Acknowledgement(verb)
    for namespace in namespaces { acknowledgement.begin(namespace.name) }
    var keys: [Key] = []
    let absent = try forEachEntries(of: selection, in: namespaces) { entries in
      keys += entries.prefix(3 - keys.count).map(\.key)
      for entry in entries {
        var tally = Tally()
        tally.add(entry)
        acknowledgement.add(tally, in: entry.namespace)
      }
    }
    try tell(absent, of: selection, in: &acknowledgement)
    return (acknowledgement, keys)
  }

  /// Keys from outside that are nowhere: a pipe's lines have no place for them, and a person or a log
  /// should know.
  private func tell(
    _ absent: Int, of selection: Selection, in acknowledgement: inout Acknowledgement
  ) throws {
    guard selection.input != nil else { return }
    acknowledgement.absent = absent
    if presentation.mode == .plain, absent > 0 {
      try host.notify("note: \(Wording.count(absent, "key was", "keys were")) not there")
    }
  }

  private func forEachBatch(
    of selection: Selection, in namespaces: [Store.Namespace],
    _ body: ([Store.Entry]) throws -> Void
  ) throws -> Int {
    try forEachEntries(of: selection, in: namespaces) { entries in
      for batch in Self.cut(entries) { try body(batch) }
    }
  }

  /// Hands the entries of a selection out some at a time, in its order and within its limit; nothing
  /// of the store is held meanwhile.
  ///
  /// - Returns: How many keys from outside there are not.
  @discardableResult
  func forEachEntries(
    of selection: Selection, in namespaces: [Store.Namespace], includingExpired: Bool = false,
    _ body: ([Store.Entry]) throws -> Void
  ) throws -> Int {
    var left = if case .count(let count) = selection.limit { count } else { Int.max }
    var list = try Listing(
      selection, in: namespaces, for: self, as: .expiry(namesNamespaces: false), most: left,
      includingExpired: includingExpired)
    while left > 0 {
      let entries = try list.next(min(left, Self.changesPerBatch))
      if entries.isEmpty { break }
      left -= entries.count
      try body(entries)
    }
    return list.absent
  }

  /// Hands out what is made of the entries of a selection and their values, some at a time and never
  /// more than a few megabytes of values; nothing of the store is held while `body` works and says
  /// whether to go on.
  func forEachValue<Item>(
    of selection: Selection, in namespaces: [Store.Namespace],
    read: (Store.Entry, Span<UInt8>) throws -> Item, _ body: ([Item]) throws -> Bool
  ) throws {
    var left = if case .count(let count) = selection.limit { count } else { Int.max }
    var list = try Listing(
      selection, in: namespaces, for: self, as: .expiry(namesNamespaces: false), most: left)
    while left > 0 {
      var items: [Item] = []
      var room = Self.bytesPerBatch / 4
      try list.advance(in: store) { entry, value in
        if host.isInterrupted() { throw Interruption() }
        items.append(try read(entry, value))
        room -= entry.storedSize
        return items.count < min(left, Self.changesPerBatch) && room > 0
      }
      guard !items.isEmpty, try body(items) else { return }
      left -= items.count
    }
  }

  /// Cuts a batch where its values are large: a change may have to write them anew.
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
