import LMDB
import LarderSystem

/// Several changes that become visible together, or not at all.
///
/// ``Store/write(_:)`` makes the batch; the batch is valid only during that call. A read through the batch sees the changes of
/// the batch, and a read through the store does not. A batch takes at most 100,000 changes and 64 MB of keys, values and
/// metadata; a single larger value is allowed. A further change throws ``LarderError/Code/overLimit`` and prevents the commit.
public struct WriteBatch: ~Copyable {
  static let largestCount = 100_000
  static let largestSize = 64 << 20

  var session: WriteSession
  private var count = 0
  private var size = 0

  init(_ transaction: consuming WriteTransaction, _ ledger: Ledger, engine: StoreEngine) {
    session = WriteSession(transaction, ledger, engine: engine)
  }

  mutating func countChange(ofBytes bytes: Int) throws(LarderError) {
    try session.transaction.checkUsable()
    count += 1
    size += bytes
    if count > 1, count > Self.largestCount || size > Self.largestSize {
      throw session.transaction.fail(
        LarderError(
          .overLimit, "a batch of \(count) changes and \(size) bytes is too large",
          hint: "split it: at most \(Self.largestCount) changes and \(Self.largestSize) bytes"))
    }
  }

  consuming func end() -> WriteTransaction { session.end() }

  var snapshot: UInt64 { session.transaction.id - 1 }

  /// A number for the state of the store before the batch; see ``ReadTransaction/moment``.
  var moment: UInt64 { snapshot &+ (session.engine.reader.buffer?.state.stamp ?? 0) }

  /// Stores `value` under `key`, and replaces an existing value.
  ///
  /// - Parameter expires: replaces ``EntryAttributes/expires``. If both are nil, the rules of the namespace apply.
  /// - Throws: ``LarderError/Code/invalidArgument`` for an impossible key, ``LarderError/Code/overLimit`` for a value that is
  ///   too large, ``LarderError/Code/full`` if there is no room and no other entry may be evicted.
  public mutating func set(
    _ value: [UInt8], for key: some StoreKey, in namespace: Store.Namespace,
    expires: Expiration? = nil, _ attributes: EntryAttributes = EntryAttributes()
  ) throws(LarderError) {
    _ = try key.withKeyBytes { key throws(LarderError) in
      try put(value.span, for: key, in: namespace.name, attributes: attributes.expiring(expires))
    }
  }

  /// Encodes a value with the cache's codec and stores it. The codec in the attributes is ignored.
  ///
  /// - Throws: ``LarderError/Code/unencodable`` if the codec cannot encode the value, and the errors of `set` for bytes.
  public mutating func set<Value>(
    _ value: Value, for key: some StoreKey, in cache: Cache<Value>, expires: Expiration? = nil,
    _ attributes: EntryAttributes = EntryAttributes()
  ) throws(LarderError) {
    try set(encoded: try cache.encode(value), for: key, in: cache, attributes.expiring(expires))
  }

  @discardableResult
  mutating func set<Value>(
    encoded bytes: [UInt8], for key: some StoreKey, in cache: Cache<Value>,
    _ attributes: EntryAttributes
  ) throws(LarderError) -> Stored {
    var attributes = attributes
    attributes.codec = cache.codecID
    return try key.withKeyBytes { [attributes] key throws(LarderError) in
      // The key and the attributes are checked first, so that a refused value does not declare the rules of the cache.
      if cache.rules != nil { try Self.validate(key, in: cache.name, attributes) }
      try declareOnce(cache.rules, for: cache.namespace)
      return try put(bytes.span, for: key, in: cache.namespace.name, attributes: attributes)
    }
  }

  /// The fresh value under `key`, with the changes of this batch; nil if there is none. The read is neither a hit nor a miss.
  public mutating func value(
    for key: some StoreKey, in namespace: Store.Namespace
  ) throws(LarderError) -> [UInt8]? {
    try key.withKeyBytes { key throws(LarderError) in try value(for: key, in: namespace.name) }
  }

  /// The decoded fresh value under `key`; nil if there is no fresh value or the codec cannot decode it.
  public mutating func value<Value>(for key: some StoreKey, in cache: Cache<Value>)
    throws(LarderError) -> Value?
  { try value(for: key, in: cache.namespace).flatMap { cache.decoded($0.span) } }

  /// The entry under `key`, with the changes of this batch, even if expired. Nil for an absent, invalidated or damaged entry.
  public mutating func entry(
    for key: some StoreKey, in namespace: Store.Namespace
  ) throws(LarderError) -> Store.Entry? {
    try key.withKeyBytes { key throws(LarderError) in
      guard let id = try session.namespace(namespace.name)?.id,
        let entry = try session.entry(key, in: id), try !session.isHidden(entry)
      else { return nil }
      var owners: [Owner] = []
      for owner in entry.owners {
        if let known = try session.namespace(of: owner.id) {
          owners.append(Owner(Key(owner.key), in: known.name))
        }
      }
      return session.engine.reader.facts(
        of: entry, key: Key(key.copied), namespace: namespace.name, owners: owners)
    }
  }

  /// Removes the entry under `key`, and its dependents that have no other stored owner.
  ///
  /// - Returns: false if the entry was absent, expired, invalidated or damaged.
  @discardableResult
  public mutating func remove(_ key: some StoreKey, from namespace: Store.Namespace)
    throws(LarderError) -> Bool
  {
    try key.withKeyBytes { key throws(LarderError) in try remove(key, in: namespace.name) }
  }

  /// Removes the entry under `key`; see ``remove(_:from:)``.
  @discardableResult
  public mutating func remove<Value>(_ key: some StoreKey, from cache: Cache<Value>)
    throws(LarderError) -> Bool
  {
    try remove(key, from: cache.namespace)
  }
}
