import LMDB
import LarderSystem

extension Store.Namespace {
  /// Stores `value` under `key`; what was there is replaced.
  ///
  /// Without `expires` it stays for as long as the namespace's rules say.
  /// `codec` tells those who look what the bytes are; say it where they come encoded already.
  /// Waits for its commit, which it shares with writes of other threads and tasks that come meanwhile.
  public func set(
    _ value: [UInt8], for key: some StoreKey, codec: CodecID = .bytes, expires: Expiration? = nil
  ) throws {
    try set(value, for: key, EntryAttributes(codec: codec, expires: expires))
  }

  /// Stores `value` under `key` with all that ``EntryAttributes`` can say.
  public func set(_ value: [UInt8], for key: some StoreKey, _ attributes: EntryAttributes) throws {
    try engine.writeJoining(putting(value, for: key, attributes))
  }

  /// Stores text as UTF-8.
  public func set(_ value: String, for key: some StoreKey, expires: Expiration? = nil) throws {
    try set(Array(value.utf8), for: key, EntryAttributes(codec: .text, expires: expires))
  }

  /// Stores `value` unless a read would find one under `key`; whether it did.
  @discardableResult
  public func setIfAbsent(_ value: [UInt8], for key: some StoreKey, expires: Expiration? = nil)
    throws -> Bool
  {
    try engine.writeJoining(puttingIfAbsent(value, for: key, EntryAttributes(expires: expires)))
  }

  /// Stores text unless a read would find a value under `key`; whether it did.
  @discardableResult
  public func setIfAbsent(_ value: String, for key: some StoreKey, expires: Expiration? = nil)
    throws -> Bool
  {
    try engine.writeJoining(
      puttingIfAbsent(
        Array(value.utf8), for: key, EntryAttributes(codec: .text, expires: expires)))
  }

  /// Stores `value` in the place of that version of the entry (``Store/Entry/version``), or of nothing if `version` is nil;
  /// false, and nothing is changed, if another one or none that has not expired is there.
  public func replace(
    _ version: UInt64?, with value: [UInt8], for key: some StoreKey,
    _ attributes: EntryAttributes = EntryAttributes()
  ) throws -> Bool {
    try engine.writeJoining(replacing(version, with: value, for: key, attributes))
  }

  /// Stores what `change` makes of the fresh value under `key`, nil if there is none, and returns it; where it makes nil,
  /// the entry is removed.
  ///
  /// Nobody else writes in between. `change` may run more than once, on another thread, and must not write itself.
  @discardableResult
  public func update(
    _ key: some StoreKey, _ attributes: EntryAttributes = EntryAttributes(),
    _ change: @escaping @Sendable ([UInt8]?) throws -> [UInt8]?
  ) throws -> [UInt8]? {
    try engine.writeJoining(updating(key, attributes, change))
  }

  /// Removes the entry under `key`; false if there was none that had not expired.
  @discardableResult
  public func remove(_ key: some StoreKey) throws -> Bool { try engine.writeJoining(removing(key)) }

  package func put(_ value: Span<UInt8>, for key: some StoreKey, attributes: EntryAttributes) throws
  {
    try engine.writeJoining(putting(value.copied, for: key, attributes))
  }

  package func putIfAbsent(
    _ value: Span<UInt8>, for key: some StoreKey, attributes: EntryAttributes
  ) throws -> Bool {
    try engine.writeJoining(puttingIfAbsent(value.copied, for: key, attributes))
  }
}
