import LarderSystem

extension Cache {
  /// Whether a fresh value is under `key`. Decodes nothing, and does not count as a read.
  public func contains(_ key: some StoreKey) throws(LarderError) -> Bool {
    try namespace.contains(key)
  }

  /// The entry under `key`, even an expired entry; nil if the key has no entry. Decodes nothing, and does not count as a read.
  public func entry(for key: some StoreKey) throws(LarderError) -> Store.Entry? {
    try namespace.entry(for: key)
  }

  /// The number of stored entries; see ``Store/Namespace/count()``.
  public func count() throws(LarderError) -> Int { try namespace.count() }

  /// Removes every entry in one commit; see ``Store/Namespace/clear()``.
  @discardableResult
  public func clear() throws(LarderError) -> RemovalResult { try namespace.clear() }

  /// Removes every entry whose key begins with `prefix`; see ``Store/Namespace/remove(prefix:)``.
  @discardableResult
  public func remove(prefix: some StoreKey) throws(LarderError) -> RemovalResult {
    try namespace.remove(prefix: prefix)
  }

  /// Removes every entry that carries the tag; see ``Store/Namespace/invalidate(tag:)``.
  @discardableResult
  public func invalidate(tag: String) throws(LarderError) -> RemovalResult {
    try namespace.invalidate(tag: tag)
  }

  /// The keys of the fresh entries that carry all of the tags, in key order; see ``Store/Namespace/keys(tags:)``.
  public func keys(tags: [String]) throws(LarderError) -> [Key] { try namespace.keys(tags: tags) }

  /// The fresh entries whose keys begin with `prefix`, in key order. The iteration reads the entries in batches:
  ///
  ///     for try await (key, color) in colors.entries(prefix: "1") { print(key, color.name) }
  ///     try colors.entries().visit { key, color in print(key, color.name) }
  ///
  /// Each batch comes from a snapshot of its own. An entry that exists during the whole iteration is visited once. Values that
  /// the codec cannot decode are skipped. The visits count neither as reads nor as accesses, and do not fill the memory tier.
  public func entries(prefix: some StoreKey = [UInt8]()) -> CacheEntries<Value> {
    CacheEntries(cache: self, prefix: prefix.copied)
  }

  /// The keys that begin with `prefix` and have a fresh entry, in key order; see ``Store/Namespace/keys(prefix:)``.
  public func keys(prefix: some StoreKey = [UInt8]()) throws(LarderError) -> [Key] {
    try namespace.keys(prefix: prefix)
  }
}

/// The fresh entries of a cache in key order. The iteration reads the entries in batches; see ``Cache/entries(prefix:)``.
public struct CacheEntries<Value: Sendable>: AsyncSequence, Sendable {
  /// A key and its decoded value.
  public typealias Element = (key: Key, value: Value)

  let cache: Cache<Value>
  let prefix: [UInt8]

  /// Calls `body` with each entry. `body` may write to the store. If `body` throws, the iteration ends with the error.
  public func visit(_ body: (Key, Value) throws -> Void) throws {
    var iterator = makeAsyncIterator()
    while let (key, value) = try iterator.nextEntry() { try body(key, value) }
  }

  /// Makes the iterator of `for try await (key, value) in cache.entries() { ... }`.
  public func makeAsyncIterator() -> Iterator { Iterator(entries: self) }

  /// Reads entries in batches, each from one snapshot. A batch ends after 256 entries, or when its entries have 1 MiB or more.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let entries: CacheEntries<Value>
    /// The keys and values of a batch, both as bytes: an array of decoded values would be slow in unspecialized code.
    fileprivate var bytes: [UInt8] = []
    fileprivate var pairs: [(key: Range<Int>, value: Range<Int>)] = []
    fileprivate var next = 0
    /// The entry key of the last record that the iteration has read; nil before the first batch.
    fileprivate var position: [UInt8]?
    fileprivate var isAtEnd = false

    mutating func nextEntry() throws(LarderError) -> Element? {
      while true {
        while next == pairs.count {
          if isAtEnd { return nil }
          try readBatch()
        }
        let (key, value) = pairs[next]
        next += 1
        if let value = entries.cache.decoded(bytes.span.extracting(value)) {
          return (Key(Array(bytes[key])), value)
        }
      }
    }

    /// The next entry; nil at the end. Throws a `CancellationError` if the task is cancelled.
    public mutating func next() async throws -> Element? {
      try Task.checkCancellation()
      return try nextEntry()
    }

    private mutating func readBatch() throws(LarderError) {
      let (namespace, prefix) = (entries.cache.namespace, entries.prefix)
      bytes.removeAll(keepingCapacity: true)
      pairs.removeAll(keepingCapacity: true)
      next = 0
      // If the namespace is cleared, renamed or removed between two batches, the iteration ends.
      position = try namespace.inSnapshot(behind: position, ifAbsent: nil) { id, transaction in
        try namespace.engine.reader.scanValues(
          id, prefix: prefix, behind: position, in: transaction
        ) { key, value in
          let start = bytes.count
          bytes.append(contentsOf: key)
          bytes.append(contentsOf: value)
          let middle = start + key.count
          pairs.append((key: start..<middle, value: middle..<bytes.count))
          return pairs.count < 256 && bytes.count < 1 << 20
        }
      }
      isAtEnd = position == nil
    }
  }
}
