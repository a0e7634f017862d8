import LarderSystem

/// Blocking writes. A write returns when every process sees the change. A write that needs a transaction waits for the commit.
///
/// Inside a task, a blocking write blocks a thread of Swift's pool. Use the suspending form of the same name there.
extension Store.Namespace {
  /// Stores `value` under `key` in place of any other value.
  ///
  /// - Parameter expires: how long the entry stays fresh, in place of the attributes' ``EntryAttributes/expires``. If both are
  ///   nil, the namespace's rule decides.
  public func set(
    _ value: [UInt8], for key: some StoreKey, expires: Expiration? = nil,
    _ attributes: EntryAttributes = EntryAttributes()
  ) throws(LarderError) {
    let attributes = attributes.expiring(expires)
    try key.withKeyBytes { key throws(LarderError) in
      try engine.typed {
        try store.checkWritable()
        if try engine.append(value.span, for: key, in: handle, attributes) != nil { return }
        var write = try putting(value, for: key.copied, attributes)
        write.isTried = true
        _ = try engine.commit(write)
      }
    }
  }

  /// Stores `value` if no fresh value is under `key`. Returns whether the value was stored.
  @discardableResult
  public func setIfAbsent(
    _ value: [UInt8], for key: some StoreKey, expires: Expiration? = nil
  ) throws(LarderError) -> Bool {
    try write(putting(value, for: key, EntryAttributes(expires: expires), if: .unlessFresh))
  }

  /// Stores `value` only if the entry has the version `version`; see ``Store/Entry/version``. Nil expects no entry, or an
  /// expired entry. If the entry has another version, changes nothing and returns false.
  public func replace(
    _ version: UInt64?, with value: [UInt8], for key: some StoreKey,
    _ attributes: EntryAttributes = EntryAttributes()
  ) throws(LarderError) -> Bool {
    try write(putting(value, for: key, attributes, if: .over(version)))
  }

  /// Passes the fresh value under `key`, or nil, to `change`. Stores and returns the result. A nil result removes the entry.
  ///
  /// No other write comes between the read and the write. `change` must not write, and may run several times, on any thread.
  @discardableResult
  public func update(
    _ key: some StoreKey, _ attributes: EntryAttributes = EntryAttributes(),
    _ change: @escaping @Sendable ([UInt8]?) throws -> [UInt8]?
  ) throws -> [UInt8]? { try engine.commit(updating(key, attributes, change)) }

  /// Removes the entry under `key`. Returns false if the entry was absent or had expired.
  @discardableResult
  public func remove(_ key: some StoreKey) throws(LarderError) -> Bool { try write(removing(key)) }

  /// Removes the entry under `key` and returns its fresh value, or nil. Only one of several concurrent callers gets the value.
  public func pop(_ key: some StoreKey) throws(LarderError) -> [UInt8]? {
    try write(popping(key) { $0 })
  }

  /// Adds `amount` to the fresh number under `key`, or to 0, and returns the sum. No other write comes in between.
  ///
  /// The number is stored as decimal text. An existing entry keeps its attributes. Throws ``LarderError/Code/undecodable`` if
  /// the value is not a number, and ``LarderError/Code/invalidArgument`` if the sum does not fit into an `Int`.
  ///
  /// - Parameter expires: the lifetime of a new entry; nil means the namespace's rule.
  @discardableResult
  public func increment(
    _ key: some StoreKey, by amount: Int = 1, expires: Expiration? = nil
  ) throws(LarderError) -> Int { try write(incrementing(key, by: amount, expires)) }

  func write<Result: Sendable>(
    _ write: @autoclosure () throws -> SharedWrite<Result>
  ) throws(LarderError) -> Result { try engine.typed { try engine.commit(write()) } }

  /// Starts the entry's lifetime again. Does not change the value or its version.
  ///
  /// The stale window keeps its length. For an entry that had no expiry, the namespace's rule sets the stale window.
  ///
  /// - Parameter expires: the new lifetime; ``Expiration/never`` removes the expiration. Nil means the namespace's rule.
  ///   Caution: if the namespace has no such rule, nil removes the expiration.
  /// - Returns: whether the lifetime was started again; false if there is no entry, or an expired entry.
  @discardableResult
  public func touch(_ key: some StoreKey, expires: Expiration? = nil) throws(LarderError) -> Bool {
    try write(rescheduling(key, expires))
  }

  /// Protects the entry from eviction at every limit. Returns false if there is no entry, or an expired entry.
  ///
  /// The entry still expires and can be removed. A later write keeps the pin if ``EntryAttributes/isPinned`` is nil.
  @discardableResult
  public func pin(_ key: some StoreKey) throws(LarderError) -> Bool {
    try write(pinning(key, true))
  }

  /// Ends the protection from eviction. Returns false if the entry is absent or has expired.
  @discardableResult
  public func unpin(_ key: some StoreKey) throws(LarderError) -> Bool {
    try write(pinning(key, false))
  }

  /// Removes every entry in one commit. O(1): later writes and ``purge()`` reclaim the space in steps.
  ///
  /// After the call, no new read in any process finds an entry from before the call. A load that began before the call stores
  /// no value. Subscribers get ``Change/Kind/cleared``, even if the namespace had no entry.
  @discardableResult
  public func clear() throws(LarderError) -> RemovalResult {
    try store.checkWritable()
    let removal = try engine.commit { batch in try batch.clear(self) }
    engine.memory.removeAll { $0 == ExactString(name) }
    return removal
  }

  /// Removes this namespace's expired entries and returns their number; O(expired entries). See ``Store/purge()``.
  @discardableResult
  public func purge() throws(LarderError) -> RemovalResult {
    try store.purge(only: self) { _ in true }
  }

  /// Removes every entry whose key begins with `prefix`, in transactions of at most 500 entries. Returns the number of entries.
  ///
  /// Entries that are written during the call may stay. For an empty prefix use ``clear()``. O(entries with the prefix).
  @discardableResult
  public func remove(prefix: some StoreKey) throws(LarderError) -> RemovalResult {
    try store.checkWritable()
    let prefix = prefix.copied
    // Loads that began before this call must store no values, even for keys that are not stored now.
    try engine.commit { batch in batch.refuseEarlierLoads(in: self) }
    var total = RemovalResult()
    var position: [UInt8]?
    repeat {
      var keys: [Key] = []
      position = try inSnapshot(behind: position, ifAbsent: nil) { id, transaction in
        // Unlike `visitEntries`, also finds an entry that lacks a required transform, because such an entry must leave, too.
        try engine.reader.scanRecords(
          id, prefix: prefix, behind: position, verifiesPlain: false, in: transaction
        ) { found in
          let entry = StoredEntry(entryKey: found.entryKey.copied, record: found.record)
          if let key = entry?.key, key.starts(with: prefix) { keys.append(Key(key)) }
          return true
        }
      }
      var isCounted = false
      while !keys.isEmpty {
        let (removed, count) = try engine.commit { batch in
          // A batch without pages for its removals would fail, and other entries would be evicted for this batch.
          let some = keys.prefix(batch.session.removalsInOwnBatch)
          var removed = RemovalResult()
          // Counts all entries before the first removal, because dependents leave with their owners.
          for key in isCounted ? [] : keys {
            if let entry = try batch.session.living(key.bytes.span, in: name) {
              removed += RemovalResult(entries: 1, bytes: entry.valueCount)
            }
          }
          for key in some { try batch.remove(key, from: self) }
          return (removed, some.count)
        }
        total += removed
        isCounted = true
        keys.removeFirst(count)
      }
    } while position != nil
    return total
  }
}
