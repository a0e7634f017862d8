/// Writes for tasks. A write that needs a transaction suspends the task until the transaction commits.
///
/// If a task is cancelled before the commit begins, the write throws a `CancellationError` and changes nothing. All other
/// errors are of type ``LarderError``, except the errors of the caller's own closures.
extension Store.Namespace {
  /// Stores `value` under `key` in place of any other value; see the blocking form.
  public func set(
    _ value: [UInt8], for key: some StoreKey, expires: Expiration? = nil,
    _ attributes: EntryAttributes = EntryAttributes()
  ) async throws {
    _ = try await engine.commit(putting(value, for: key, attributes.expiring(expires)))
  }

  /// Stores `value` if no fresh value is under `key`. Returns whether the value was stored.
  @discardableResult
  public func setIfAbsent(_ value: [UInt8], for key: some StoreKey, expires: Expiration? = nil)
    async throws -> Bool
  {
    let attributes = EntryAttributes(expires: expires)
    return try await engine.commit(putting(value, for: key, attributes, if: .unlessFresh))
  }

  /// Stores `value` only if the entry has the version `version`; nil expects no entry. Returns false if the version differs.
  public func replace(
    _ version: UInt64?, with value: [UInt8], for key: some StoreKey,
    _ attributes: EntryAttributes = EntryAttributes()
  ) async throws -> Bool {
    try await engine.commit(putting(value, for: key, attributes, if: .over(version)))
  }

  /// Passes the fresh value under `key`, or nil, to `change`. Stores and returns the result; see the blocking form.
  @discardableResult
  public func update(
    _ key: some StoreKey, _ attributes: EntryAttributes = EntryAttributes(),
    _ change: @escaping @Sendable ([UInt8]?) throws -> [UInt8]?
  ) async throws -> [UInt8]? { try await engine.commit(updating(key, attributes, change)) }

  /// Removes the entry under `key`. Returns false if the entry was absent or had expired.
  @discardableResult
  public func remove(_ key: some StoreKey) async throws -> Bool {
    try await engine.commit(removing(key))
  }

  /// Removes the entry under `key` and returns its fresh value, or nil. Only one of several concurrent callers gets the value.
  public func pop(_ key: some StoreKey) async throws -> [UInt8]? {
    try await engine.commit(popping(key) { $0 })
  }

  /// Adds `amount` to the fresh number under `key`, or to 0, and returns the sum; see the blocking form.
  @discardableResult
  public func increment(
    _ key: some StoreKey, by amount: Int = 1, expires: Expiration? = nil
  ) async throws -> Int { try await engine.commit(incrementing(key, by: amount, expires)) }

  /// Starts the entry's lifetime again. Returns false if the entry is absent or has expired.
  @discardableResult
  public func touch(_ key: some StoreKey, expires: Expiration? = nil) async throws -> Bool {
    try await engine.commit(rescheduling(key, expires))
  }

  /// Protects the entry from eviction. Returns false if the entry is absent or has expired.
  @discardableResult
  public func pin(_ key: some StoreKey) async throws -> Bool {
    try await engine.commit(pinning(key, true))
  }

  /// Ends the protection from eviction. Returns false if the entry is absent or has expired.
  @discardableResult
  public func unpin(_ key: some StoreKey) async throws -> Bool {
    try await engine.commit(pinning(key, false))
  }
}
