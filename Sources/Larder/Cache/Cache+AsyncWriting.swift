/// The same verbs for tasks, which are suspended until the commit that they share with all who come meanwhile.
extension Cache {
  /// Stores `value` under `key`; what was there is replaced.
  ///
  /// Without `expires` it stays for as long as the namespace's rules say.
  public func set(_ value: Value, for key: some StoreKey, expires: Expiration? = nil) async throws {
    try await set(value, for: key, EntryAttributes(expires: expires))
  }

  /// Stores `value` under `key` with all that ``EntryAttributes`` can say; its codec is the cache's.
  public func set(_ value: Value, for key: some StoreKey, _ attributes: EntryAttributes)
    async throws
  {
    // Other writers need not wait for the codec.
    let bytes = try encode(value)
    try declareRules()
    let stored = try await namespace.engine.submit(setting(bytes, for: key, attributes))
    try keep(value, for: key, size: bytes.count, stored)
  }

  /// Stores `value` unless a read would find one under `key`; whether it did.
  @discardableResult
  public func setIfAbsent(_ value: Value, for key: some StoreKey, expires: Expiration? = nil)
    async throws -> Bool
  {
    let bytes = try encode(value)
    try declareRules()
    return try await namespace.engine.submit(settingIfAbsent(bytes, for: key, expires))
  }

  /// Stores what `change` makes of the fresh value under `key`, nil if there is none, and returns it; where it makes nil,
  /// the entry is removed.
  ///
  /// Nobody else writes in between. `change` may run more than once, on another thread, and must not write itself.
  @discardableResult
  public func update(
    _ key: some StoreKey, expires: Expiration? = nil,
    _ change: @escaping @Sendable (Value?) throws -> Value?
  ) async throws -> Value? {
    try declareRules()
    return try await namespace.engine.submit(updating(key, expires, change))
  }

  /// Removes the entry under `key`; false if there was none that had not expired.
  @discardableResult
  public func remove(_ key: some StoreKey) async throws -> Bool {
    let wasThere = try await namespace.remove(key)
    try forget(key)
    return wasThere
  }

  /// Begins the entry's lifetime anew; false if there is no such entry or it has expired.
  @discardableResult
  public func touch(_ key: some StoreKey, expires: Expiration? = nil) async throws -> Bool {
    try await namespace.touch(key, expires: expires)
  }

  /// Gives the entry another end; false if there is no such entry or it has expired.
  @discardableResult
  public func expire(_ key: some StoreKey, _ expires: Expiration) async throws -> Bool {
    try await namespace.expire(key, expires)
  }

  /// Lets the entry stay for ever; false if there is no such entry or it has expired.
  @discardableResult
  public func persist(_ key: some StoreKey) async throws -> Bool {
    try await namespace.persist(key)
  }
}
