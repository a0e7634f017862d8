/// The same verbs for tasks: they suspend until their commit, which they share with all that come meanwhile.
///
/// A task that is cancelled before the commit begins gets a `CancellationError`, and nothing is written.
extension Store.Namespace {
  /// Stores `value` under `key`; what was there is replaced.
  public func set(
    _ value: [UInt8], for key: some StoreKey, codec: CodecID = .bytes, expires: Expiration? = nil
  ) async throws {
    try await set(value, for: key, EntryAttributes(codec: codec, expires: expires))
  }

  /// Stores `value` under `key` with all that ``EntryAttributes`` can say.
  public func set(_ value: [UInt8], for key: some StoreKey, _ attributes: EntryAttributes)
    async throws
  {
    try await engine.submit(putting(value, for: key, attributes))
  }

  /// Stores text as UTF-8.
  public func set(_ value: String, for key: some StoreKey, expires: Expiration? = nil) async throws
  {
    try await set(Array(value.utf8), for: key, EntryAttributes(codec: .text, expires: expires))
  }

  /// Stores `value` unless a read would find one under `key`; whether it did.
  @discardableResult
  public func setIfAbsent(_ value: [UInt8], for key: some StoreKey, expires: Expiration? = nil)
    async throws -> Bool
  {
    try await engine.submit(puttingIfAbsent(value, for: key, EntryAttributes(expires: expires)))
  }

  /// Stores text unless a read would find a value under `key`; whether it did.
  @discardableResult
  public func setIfAbsent(_ value: String, for key: some StoreKey, expires: Expiration? = nil)
    async throws -> Bool
  {
    try await engine.submit(
      puttingIfAbsent(
        Array(value.utf8), for: key, EntryAttributes(codec: .text, expires: expires)))
  }

  /// Stores `value` in the place of that version of the entry, or of nothing if `version` is nil; false if another one
  /// is there.
  public func replace(
    _ version: UInt64?, with value: [UInt8], for key: some StoreKey,
    _ attributes: EntryAttributes = EntryAttributes()
  ) async throws -> Bool {
    try await engine.submit(replacing(version, with: value, for: key, attributes))
  }

  /// Stores `value` if `condition` holds when no other write, of whatever process, can come between, and in the place of
  /// that version alone, if one is given; whether it did.
  package func set(
    _ value: [UInt8], for key: some StoreKey, _ attributes: EntryAttributes,
    over version: UInt64? = nil, if condition: @escaping @Sendable () -> Bool
  ) async throws -> Bool {
    try await engine.submit(putting(value, for: key, attributes, over: version, if: condition))
  }

  /// Stores what `change` makes of the fresh value under `key`, and returns it; where it makes nil, the entry is removed.
  @discardableResult
  public func update(
    _ key: some StoreKey, _ attributes: EntryAttributes = EntryAttributes(),
    _ change: @escaping @Sendable ([UInt8]?) throws -> [UInt8]?
  ) async throws -> [UInt8]? {
    try await engine.submit(updating(key, attributes, change))
  }

  /// Removes the entry under `key`; false if there was none that had not expired.
  @discardableResult
  public func remove(_ key: some StoreKey) async throws -> Bool {
    try await engine.submit(removing(key))
  }

  /// Begins the entry's lifetime anew; false if there is no such entry or it has expired.
  @discardableResult
  public func touch(_ key: some StoreKey, expires: Expiration? = nil) async throws -> Bool {
    try await engine.submit(rescheduling(key, expires))
  }

  /// Gives the entry another end; false if there is no such entry or it has expired.
  @discardableResult
  public func expire(_ key: some StoreKey, _ expires: Expiration) async throws -> Bool {
    try await touch(key, expires: expires)
  }

  /// Lets the entry stay for ever; false if there is no such entry or it has expired.
  @discardableResult
  public func persist(_ key: some StoreKey) async throws -> Bool {
    try await touch(key, expires: .never)
  }

  /// Keeps the entry from being evicted; false if there is no such entry or it has expired.
  @discardableResult
  public func pin(_ key: some StoreKey) async throws -> Bool {
    try await engine.submit(pinning(key, true))
  }

  /// Lets the entry be evicted again; false if there is no such entry or it has expired.
  @discardableResult
  public func unpin(_ key: some StoreKey) async throws -> Bool {
    try await engine.submit(pinning(key, false))
  }
}
