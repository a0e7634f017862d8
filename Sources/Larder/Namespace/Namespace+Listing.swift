import LMDB
import LarderSystem

extension Store.Namespace {
  /// Up to `limit` entries in key order, after `cursor`, without those that have expired.
  ///
  /// The pages together list every entry that exists the whole time exactly once, whatever is written meanwhile. Throws
  /// ``LarderError/Code/badCursor`` for a cursor that is malformed or of another namespace, and
  /// ``LarderError/Code/invalidArgument`` for a limit below 1.
  public func page(
    limit: Int = 100, after cursor: PageCursor? = nil, prefix: some StoreKey = [UInt8]()
  ) throws(LarderError) -> Page<Store.Entry> {
    guard limit >= 1 else {
      throw LarderError(
        .invalidArgument, "a page of \(limit) entries is not possible", hint: "ask for 1 or more")
    }
    var items: [Store.Entry] = []
    var last: [UInt8] = []
    var isMore = false
    try engine.typed {
      try visitEntries(prefix: prefix.copied, after: cursor, includingExpired: false) {
        found, entry, _, _ in
        isMore = items.count >= limit
        if isMore { return false }
        items.append(entry)
        last = found.entryKey
        return true
      }
    }
    return Page(items: items, next: isMore ? PageCursor(store: engine.identity, slot: last) : nil)
  }

  /// The keys of fresh entries that begin with `prefix`, in key order; negative entries are left out.
  ///
  /// The whole list is made in memory: use ``page(limit:after:prefix:)`` or
  /// ``scanValues(prefix:after:_:)`` for many entries. O(entries with the prefix).
  public func keys(prefix: some StoreKey = [UInt8]()) throws(LarderError) -> [Key] {
    var keys: [Key] = []
    try engine.typed {
      try scanValues(prefix: prefix) { key, _ in
        keys.append(Key(key.copied))
        return true
      }
    }
    return keys
  }

  /// A cursor behind `key`, whether or not there is such an entry.
  ///
  /// Throws ``LarderError/Code/invalidArgument`` for an impossible key.
  public func cursor(after key: some StoreKey) throws(LarderError) -> PageCursor {
    let transaction = try engine.beginRead()
    let id = try engine.reader.identify(handle, in: transaction)
    return try key.withKeyBytes { key throws(LarderError) in
      guard (1...Key.longest).contains(key.count) else {
        throw LarderError(
          .invalidArgument, "a key of \(key.count) bytes has no position in a listing",
          hint: "use 1 to \(Key.longest) bytes")
      }
      return PageCursor(store: engine.identity, slot: StoredKey.entry(key, in: id))
    }
  }

  /// The number of stored entries, including expired ones that are not removed yet.
  ///
  /// It first commits the loaded values and the queued removals of this process. O(1).
  public func count() throws(LarderError) -> Int {
    try engine.settle(store)
    let transaction = try engine.beginRead()
    let id = try engine.reader.identify(handle, in: transaction)
    return Int(clamping: try engine.metadata.counters(of: id, in: transaction).entries)
  }
}
