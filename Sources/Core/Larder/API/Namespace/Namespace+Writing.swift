import LMDB
import LarderSystem

/// Writes of callers that block until the commit, which they share with writes of other threads and tasks.
///
/// Inside a task they block a thread of Swift's pool: use the forms that suspend there, which have the same names.
extension Store.Namespace {
  /// Stores `value` under `key` in place of any other.
  ///
  /// - Parameter expires: how long it stays fresh, in place of the attributes' ``EntryAttributes/expires``. If both are nil, the
  ///   namespace's rule decides.
  public func set(
    _ value: [UInt8], for key: some StoreKey, expires: Expiration? = nil,
    _ attributes: EntryAttributes = EntryAttributes()
  ) throws(LarderError) {
    let attributes = attributes.expiring(expires)
    try key.withKeyBytes { key throws(LarderError) in
      try engine.typed {
        try store.checkWritable()
        if try engine.append(value.span, for: key, in: handle, attributes) != nil { return }
        // Most writes do not wait for others, and then nothing is copied.
        let done: Void? = try engine.commitAtOnce { batch in
          try batch.put(value.span, for: key, in: name, attributes: attributes)
        }
        if done == nil { try engine.commit(putting(value, for: key.copied, attributes)) }
      }
    }
  }

  /// Stores `value` unless there is a fresh value under `key`; returns whether it did.
  @discardableResult
  public func setIfAbsent(
    _ value: [UInt8], for key: some StoreKey, expires: Expiration? = nil
  ) throws(LarderError) -> Bool {
    try write(puttingIfAbsent(value, for: key, EntryAttributes(expires: expires)))
  }

  /// Stores `value` only if the entry has this version (``Store/Entry/version``); nil expects no entry.
  ///
  /// - Returns: false, and nothing changes, if the entry has another version. An expired entry counts as absent.
  public func replace(
    _ version: UInt64?, with value: [UInt8], for key: some StoreKey,
    _ attributes: EntryAttributes = EntryAttributes()
  ) throws(LarderError) -> Bool {
    try write(replacing(version, with: value, for: key, attributes))
  }

  /// Passes the fresh value under `key`, or nil, to `change`, and stores and returns the result. A nil result removes the
  /// entry.
  ///
  /// No other write comes between. `change` may run more than once, and on another thread, and must not write itself.
  @discardableResult
  public func update(
    _ key: some StoreKey, _ attributes: EntryAttributes = EntryAttributes(),
    _ change: @escaping @Sendable ([UInt8]?) throws -> [UInt8]?
  ) throws -> [UInt8]? {
    try engine.commit(updating(key, attributes, change))
  }

  /// Removes the entry under `key`; false if there was none, or an expired one.
  @discardableResult
  public func remove(_ key: some StoreKey) throws(LarderError) -> Bool { try write(removing(key)) }

  /// Removes the entry under `key` and returns its fresh value; nil if there was none. Of several callers one gets it.
  public func pop(_ key: some StoreKey) throws(LarderError) -> [UInt8]? { try write(popping(key)) }

  /// Adds `amount` to the fresh number under `key`, or to 0, and returns the sum. No other write comes between.
  ///
  /// The number is stored as decimal text. An entry that is there keeps its attributes. Throws
  /// ``LarderError/Code/undecodable`` if the value is not a number, and ``LarderError/Code/invalidArgument`` if the sum
  /// does not fit.
  ///
  /// - Parameter expires: how long a new entry stays; nil takes the namespace's rule.
  @discardableResult
  public func increment(
    _ key: some StoreKey, by amount: Int = 1, expires: Expiration? = nil
  ) throws(LarderError) -> Int {
    try write(incrementing(key, by: amount, expires))
  }

  func write<Result: Sendable>(
    _ write: @autoclosure () throws -> SharedWrite<Result>
  ) throws(LarderError) -> Result {
    try engine.typed { try engine.commit(write()) }
  }

  /// Starts the entry's lifetime again, without reading or writing the value.
  ///
  /// The time for which it may be served stale afterwards stays as long as it was.
  ///
  /// - Parameter expires: the new lifetime, ``Expiration/never`` to remove the expiration; nil takes the namespace's rule. In a
  ///   namespace without a rule the entry then never expires, whatever lifetime it had: pass one, or declare a rule.
  /// - Returns: false if there is no entry, or an expired one.
  @discardableResult
  public func touch(
    _ key: some StoreKey, expires: Expiration? = nil
  ) throws(LarderError) -> Bool {
    try write(rescheduling(key, expires))
  }

  /// Protects the entry from eviction, whatever limit is reached; false if there is no entry, or an expired one.
  ///
  /// It still expires and can be removed. An overwrite keeps the pin.
  @discardableResult
  public func pin(_ key: some StoreKey) throws(LarderError) -> Bool {
    try write(pinning(key, true))
  }

  /// Ends the protection from eviction; false if there is no entry, or an expired one.
  @discardableResult
  public func unpin(_ key: some StoreKey) throws(LarderError) -> Bool {
    try write(pinning(key, false))
  }
}

// MARK: Removing

/// Removing many entries.
extension Store.Namespace {
  /// Removes every entry at once; O(1), later writes and ``purge()`` reclaim the space in steps.
  ///
  /// When it returns no reader in any process finds an entry that was there before. A value whose load began before is not
  /// stored. Subscribers get ``Change/Kind/cleared``, even if there was no entry.
  @discardableResult
  public func clear() throws(LarderError) -> RemovalResult {
    try store.checkWritable()
    let removal = try engine.commit { batch in try batch.clear(self) }
    engine.memory.removeAll(of: name)
    return removal
  }

  /// Removes this namespace's expired entries and returns how many; O(those). See ``Store/purge()``.
  @discardableResult
  public func purge() throws(LarderError) -> RemovalResult {
    try store.checkWritable()
    return try Purge(engine).run(only: name)
  }

  /// Removes every entry whose key begins with `prefix`, in transactions of at most 1,000 entries, and returns how many.
  ///
  /// Entries that are written meanwhile may stay. With an empty prefix ``clear()`` does the same at once.
  /// O(entries with the prefix).
  @discardableResult
  public func remove(prefix: some StoreKey) throws(LarderError) -> RemovalResult {
    try store.checkWritable()
    let prefix = prefix.copied
    // Also loads of keys that are not stored belong to the prefix.
    try engine.commit { batch in batch.refuseEarlierLoads(in: self) }
    var total = RemovalResult()
    var position: [UInt8]?
    while true {
      let (keys, reached) = try keys(prefix: prefix, behind: position)
      if !keys.isEmpty {
        let removed = try engine.commit { batch in
          var removed = RemovalResult()
          for key in keys {
            guard let entry = try batch.entry(for: key, in: self) else { continue }
            if try batch.remove(key, from: self) {
              removed.entries += 1
              removed.bytes += entry.size
            }
          }
          return removed
        }
        total.entries += removed.entries
        total.bytes += removed.bytes
      }
      guard let reached else { return total }
      position = reached
    }
  }

  /// The keys of a thousand entries at most, and the place to continue; nil at the end.
  private func keys(
    prefix: [UInt8], behind position: [UInt8]?
  ) throws(LarderError) -> (keys: [Key], next: [UInt8]?) {
    let transaction = try engine.beginRead()
    let id = try engine.reader.identify(handle, in: transaction)
    if id == .store || (position.map { $0.span.namespaceID != id } ?? false) { return ([], nil) }
    var keys: [Key] = []
    let next = try engine.typed {
      try engine.reader.scan(id, prefix: prefix, behind: position, in: transaction) { _, key, _ in
        keys.append(Key(key))
        return true
      }
    }
    return (keys, next)
  }
}
