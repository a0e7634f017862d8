import LMDB
import Synchronization

/// Blocking writes. A write returns when every process sees the change. A write that needs a transaction waits for the commit.
extension Cache {
  /// Like `set` of ``Store/Namespace``, but the cache's codec encodes `value`. Ignores the codec in the attributes.
  public func set(
    _ value: Value, for key: some StoreKey, expires: Expiration? = nil,
    _ attributes: EntryAttributes = EntryAttributes()
  ) throws(LarderError) {
    // The value is encoded here, so that other writers do not wait for the codec.
    let bytes = try encode(value)
    try namespace.store.checkWritable()
    let attributes = attributes.expiring(expires)
    let appended = try append(bytes, for: key, attributes)
    let stored =
      if let appended { appended } else {
        try namespace.write(setting(bytes, for: key, attributes))
      }
    key.withKeyBytes { keep(value, for: $0, size: bytes.count, stored, isWritten: true) }
  }

  /// Stores `value` if no fresh value is under `key`. Returns whether the value was stored.
  @discardableResult
  public func setIfAbsent(
    _ value: Value, for key: some StoreKey, expires: Expiration? = nil
  ) throws(LarderError) -> Bool { try namespace.write(settingIfAbsent(value, for: key, expires)) }

  /// Passes the fresh value under `key`, or nil, to `change`. Stores and returns the result. A nil result removes the entry. No
  /// other write comes between the read and the write. `change` must not write, and may run several times, on any thread.
  @discardableResult
  public func update(
    _ key: some StoreKey, expires: Expiration? = nil,
    _ change: @escaping @Sendable (Value?) throws -> Value?
  ) throws -> Value? { try namespace.engine.commit(updating(key, expires, change)) }

  /// Removes the entry under `key`. Returns false if the entry was absent or had expired.
  @discardableResult
  public func remove(_ key: some StoreKey) throws(LarderError) -> Bool {
    try forget(key, after: namespace.remove(key))
  }

  /// Removes an entry and returns its fresh value, or nil. Only one caller gets the value. An undecodable value stays.
  public func pop(_ key: some StoreKey) throws(LarderError) -> Value? {
    try forget(key, after: namespace.write(namespace.popping(key) { decoded($0.span) }))
  }

  /// Starts the entry's lifetime again. Returns false if the entry is absent or has expired.
  @discardableResult
  public func touch(_ key: some StoreKey, expires: Expiration? = nil) throws(LarderError) -> Bool {
    try namespace.touch(key, expires: expires)
  }

  /// Whether this opening has declared the rules, if the cache has rules. Takes no lock in a forked child.
  var hasDeclaredRules: Bool {
    guard let rules else { return true }
    guard namespace.engine.environment.isOpen, let known = namespace.handle.known.withLock({ $0 })
    else { return false }
    return namespace.handle.hasDeclared(rules, of: known.namespace.record.created)
  }

  /// The rules in force after the next write, which declares ``rules`` if this opening has not. Waits for no commit.
  package func rulesOfNextWrite() throws(LarderError) -> Rules {
    let transaction = try namespace.engine.reader.beginRead()
    let record = try namespace.engine.metadata.record(named: name, in: transaction)
    guard let record else { return rules ?? Rules() }
    var known = record.rules
    if let rules, !namespace.handle.hasDeclared(rules, of: record.created) {
      known.declare(rules.inMilliseconds)
    }
    return known.effective
  }

  /// Stores a value in the write buffer. Returns nil if only a transaction can store the value.
  func append(
    _ bytes: [UInt8], for key: some StoreKey, _ attributes: EntryAttributes
  ) throws(LarderError) -> Stored? {
    guard hasDeclaredRules else { return nil }
    var attributes = attributes
    attributes.codec = codecID
    return try key.withKeyBytes { [attributes] key throws(LarderError) in
      try namespace.engine.append(bytes.span, for: key, in: namespace.handle, attributes) ?? nil
    }
  }
}

extension Cache where Value: FixedWidthInteger {
  /// Adds `amount` to the fresh number under `key`, or to 0, and returns the sum. No other write can come between the read and
  /// the write. An existing entry keeps its attributes. `expires` is the lifetime of a new entry; nil means the namespace's
  /// rule. Throws ``LarderError/Code/undecodable`` for another value, ``LarderError/Code/invalidArgument`` for too large a sum.
  @discardableResult
  public func increment(
    _ key: some StoreKey, by amount: Value = 1, expires: Expiration? = nil
  ) throws(LarderError) -> Value {
    try forget(key, after: namespace.write(incrementing(key, by: amount, expires)))
  }

  /// Adds `amount` to the fresh number under `key`, or to 0, and returns the sum; see the blocking form.
  @discardableResult
  public func increment(
    _ key: some StoreKey, by amount: Value = 1, expires: Expiration? = nil
  ) async throws -> Value {
    try await forget(key, after: namespace.engine.commit(incrementing(key, by: amount, expires)))
  }
}

/// Writes for tasks; see the suspending writes of ``Store/Namespace``.
extension Cache {
  /// Stores `value` under `key` in place of any other value; see the blocking form.
  public func set(
    _ value: Value, for key: some StoreKey, expires: Expiration? = nil,
    _ attributes: EntryAttributes = EntryAttributes()
  ) async throws {
    let bytes = try encode(value)
    try namespace.store.checkWritable()
    let attributes = attributes.expiring(expires)
    try Task.checkCancellation()
    let appended = try append(bytes, for: key, attributes)
    let stored =
      if let appended { appended } else {
        try await namespace.engine.commit(setting(bytes, for: key, attributes))
      }
    key.withKeyBytes { keep(value, for: $0, size: bytes.count, stored, isWritten: true) }
  }

  /// Stores `value` if no fresh value is under `key`. Returns whether the value was stored.
  @discardableResult
  public func setIfAbsent(_ value: Value, for key: some StoreKey, expires: Expiration? = nil)
    async throws -> Bool
  {
    try await namespace.engine.commit(settingIfAbsent(value, for: key, expires))
  }

  /// Passes the fresh value under `key`, or nil, to `change`. Stores and returns the result; see the blocking form.
  @discardableResult
  public func update(
    _ key: some StoreKey, expires: Expiration? = nil,
    _ change: @escaping @Sendable (Value?) throws -> Value?
  ) async throws -> Value? { try await namespace.engine.commit(updating(key, expires, change)) }

  /// Removes the entry under `key`. Returns false if the entry was absent or had expired.
  @discardableResult
  public func remove(_ key: some StoreKey) async throws -> Bool {
    try await forget(key, after: namespace.remove(key))
  }

  /// Removes an entry and returns its fresh value, or nil. Only one caller gets the value. An undecodable value stays.
  public func pop(_ key: some StoreKey) async throws -> Value? {
    try await forget(
      key, after: namespace.engine.commit(namespace.popping(key) { decoded($0.span) }))
  }

  /// Starts the entry's lifetime again. Returns false if the entry is absent or has expired.
  @discardableResult
  public func touch(_ key: some StoreKey, expires: Expiration? = nil) async throws -> Bool {
    try await namespace.touch(key, expires: expires)
  }
}
