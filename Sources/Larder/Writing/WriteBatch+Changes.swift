import LMDB
import LarderSystem

extension WriteBatch {
  /// Stores `value` under `key`, with the namespace's lifetime unless `expires` is given.
  ///
  /// `codec` tells those who look what the bytes are; say it where they come encoded already.
  public mutating func set(
    _ value: [UInt8], for key: some StoreKey, in namespace: Store.Namespace,
    codec: CodecID = .bytes,
    expires: Expiration? = nil
  ) throws {
    _ = try key.withKeyBytes { key in
      try put(
        value.span, for: key, in: namespace.name,
        attributes: EntryAttributes(codec: codec, expires: expires))
    }
  }

  /// Stores `value` under `key` with all that ``EntryAttributes`` can say.
  public mutating func set(
    _ value: [UInt8], for key: some StoreKey, in namespace: Store.Namespace,
    _ attributes: EntryAttributes
  ) throws {
    _ = try key.withKeyBytes { key in
      try put(value.span, for: key, in: namespace.name, attributes: attributes)
    }
  }

  /// Stores text as UTF-8.
  public mutating func set(
    _ value: String, for key: some StoreKey, in namespace: Store.Namespace,
    expires: Expiration? = nil
  ) throws {
    _ = try key.withKeyBytes { key in
      try put(
        Array(value.utf8).span, for: key, in: namespace.name,
        attributes: EntryAttributes(codec: .text, expires: expires))
    }
  }

  /// Stores a value through the cache's codec.
  public mutating func set<Value>(
    _ value: Value, for key: some StoreKey, in cache: Cache<Value>, expires: Expiration? = nil
  ) throws {
    try set(
      encoded: try cache.encode(value), for: key, in: cache, EntryAttributes(expires: expires))
  }

  /// Stores a value through the cache's codec with all that ``EntryAttributes`` can say; its codec is the cache's.
  public mutating func set<Value>(
    _ value: Value, for key: some StoreKey, in cache: Cache<Value>, _ attributes: EntryAttributes
  ) throws {
    try set(encoded: try cache.encode(value), for: key, in: cache, attributes)
  }

  @discardableResult
  mutating func set<Value>(
    encoded bytes: [UInt8], for key: some StoreKey, in cache: Cache<Value>,
    _ attributes: EntryAttributes
  ) throws -> (id: NamespaceID, header: EntryHeader) {
    try declare(cache)
    var attributes = attributes
    attributes.codec = cache.codecID
    return try key.withKeyBytes { [attributes] key in
      try put(bytes.span, for: key, in: cache.namespace.name, attributes: attributes)
    }
  }

  /// The fresh value under `key` as this batch sees it, or nil.
  public mutating func value(for key: some StoreKey, in namespace: Store.Namespace) throws
    -> [UInt8]?
  {
    try key.withKeyBytes { key in try value(for: key, in: namespace.name) }
  }

  /// The same through the cache's codec; a value that it cannot read is a miss that is counted.
  public mutating func value<Value>(for key: some StoreKey, in cache: Cache<Value>) throws -> Value?
  {
    try value(for: key, in: cache.namespace).flatMap { cache.decodeCounting($0.span) }
  }

  /// Removes the entry; false if there was none that had not expired.
  @discardableResult
  public mutating func remove(_ key: some StoreKey, from namespace: Store.Namespace) throws -> Bool
  {
    try key.withKeyBytes { key in try remove(key, in: namespace.name) }
  }

  @discardableResult
  public mutating func remove<Value>(_ key: some StoreKey, from cache: Cache<Value>) throws -> Bool
  {
    try remove(key, from: cache.namespace)
  }

  mutating func declare<Value>(_ cache: Cache<Value>) throws(LarderError) {
    if let rules = cache.rules { try declare(rules, for: cache.namespace.name) }
  }

  /// The entry of that key if it has not expired and no tag of it was invalidated; a damaged one is none.
  mutating func living(_ key: Span<UInt8>, in namespace: String) throws(LarderError) -> StoredEntry?
  {
    guard let record = try record(named: namespace), let entry = try entry(key, in: record.id)
    else { return nil }
    if state(of: entry) == .expired { return nil }
    return try isHidden(entry) ? nil : entry
  }

  /// Where an entry stands, use included that is not put down yet.
  func state(of entry: StoredEntry) -> Store.Entry.State {
    let idle = entry.header.flags.contains(.idle) ? entry.fields.idle : nil
    return engine.current(entry.header, idle: idle, slot: entry.slot).state(at: now.milliseconds)
  }

  /// Removes what is under the key, expired or damaged included; whether that was an entry that had not expired.
  mutating func remove(_ key: Span<UInt8>, in namespace: String) throws(LarderError) -> Bool {
    guard (1...Key.longest).contains(key.count), let record = try record(named: namespace) else {
      return false
    }
    let slot = StoredKey.entry(key, in: record.id)
    switch try occupant(of: slot) {
    case .nobody:
      return false
    case .damaged:
      try account(0)
      try lose(slot)
      try change { transaction throws(LMDBError) in _ = try transaction.remove(slot, from: .main) }
      return false
    case .entry(let entry):
      guard entry.has(key) else { return false }
      try account(0)
      let isExpired = state(of: entry) == .expired
      let isHidden = try isHidden(entry)
      try remove(entry, reason: isHidden ? .invalidated : isExpired ? .expired : .removed)
      return !isExpired && !isHidden
    }
  }

  /// Whether a read would find a value.
  mutating func holdsFresh(_ key: Span<UInt8>, in namespace: String) throws(LarderError) -> Bool {
    guard let entry = try living(key, in: namespace),
      state(of: entry) == .fresh
    else { return false }
    return try value(for: key, in: namespace) != nil
  }

  mutating func value(for key: Span<UInt8>, in namespace: String) throws(LarderError) -> [UInt8]? {
    guard let entry = try living(key, in: namespace),
      state(of: entry) == .fresh, !entry.header.flags.contains(.negative),
      let body = try intactBody(of: entry, key: key.copied)
    else { return nil }
    let payload = Array(body[Int(entry.header.fieldsCount)...])
    try extend(entry, usedAt: now.milliseconds)
    return entry.header.flags.contains(.chunked) ? try assemble(payload, of: entry) : payload
  }

  private mutating func assemble(_ payload: [UInt8], of entry: StoredEntry) throws(LarderError)
    -> [UInt8]?
  {
    guard let expected = ChunkedPayload(payload.span) else { return nil }
    let prefix = Array(IndexKey.chunk(0, of: entry.header.version, in: entry.id).dropLast(4))
    var value: [UInt8] = []
    try forEach(in: engine.indexes.chunks, from: prefix) { _, chunk in
      value.append(contentsOf: chunk)
    }
    let whole =
      value.count == expected.count && Checksum.of(value.span, seed: 3) == expected.checksum
    return whole ? value : nil
  }
}
