extension Namespace {
  /// Stores `value` under `key`; what was there is replaced.
  ///
  /// Without `expires` it stays for as long as the namespace's rules say.
  /// `codec` tells those who look what the bytes are; say it where they come encoded already.
  public func set(
    _ value: [UInt8], for key: some StoreKey, codec: CodecID = .bytes, expires: Expiration? = nil
  ) throws {
    try put(value.span, for: key, attributes: EntryAttributes(codec: codec, expires: expires))
  }

  /// Stores `value` under `key` with all that ``EntryAttributes`` can say.
  public func set(_ value: [UInt8], for key: some StoreKey, _ attributes: EntryAttributes) throws {
    try put(value.span, for: key, attributes: attributes)
  }

  /// Stores text as UTF-8.
  public func set(_ value: String, for key: some StoreKey, expires: Expiration? = nil) throws {
    try put(
      Array(value.utf8).span, for: key, attributes: EntryAttributes(codec: .text, expires: expires))
  }

  /// Stores `value` unless a read would find one under `key`; whether it did.
  @discardableResult
  public func setIfAbsent(_ value: [UInt8], for key: some StoreKey, expires: Expiration? = nil)
    throws -> Bool
  {
    try putIfAbsent(
      value.span, for: key, attributes: EntryAttributes(codec: .bytes, expires: expires))
  }

  /// Stores text unless a read would find a value under `key`; whether it did.
  @discardableResult
  public func setIfAbsent(_ value: String, for key: some StoreKey, expires: Expiration? = nil)
    throws -> Bool
  {
    try putIfAbsent(
      Array(value.utf8).span, for: key, attributes: EntryAttributes(codec: .text, expires: expires))
  }

  /// Removes the entry under `key`; false if there was none that had not expired.
  @discardableResult
  public func remove(_ key: some StoreKey) throws -> Bool {
    try change(key) { batch, key throws(LarderError) in try batch.remove(key, in: name) }
  }

  package func put(_ value: Span<UInt8>, for key: some StoreKey, attributes: EntryAttributes) throws
  {
    try change(key) { batch, key throws(LarderError) in
      try batch.put(value, for: key, in: name, attributes: attributes)
    }
  }

  package func putIfAbsent(
    _ value: Span<UInt8>, for key: some StoreKey, attributes: EntryAttributes
  ) throws -> Bool {
    try change(key) { batch, key throws(LarderError) in
      if try batch.holdsFresh(key, in: name) { return false }
      try batch.put(value, for: key, in: name, attributes: attributes)
      return true
    }
  }

  /// One change in a transaction of its own.
  func change<Result>(
    _ key: some StoreKey, _ body: (inout Batch, Span<UInt8>) throws(LarderError) -> Result
  ) throws -> Result {
    try store.checkWritable()
    return try key.withKeyBytes { key in try core.write { batch in try body(&batch, key) } }
  }
}
