import LMDB
import Synchronization

/// A typed view of a namespace: values of one type, turned into bytes and back by a codec.
public struct Cache<Value: Sendable>: Sendable {
  /// The bytes behind it.
  public let namespace: Namespace
  /// The rules code declares for the namespace; stored with the first write. Nil leaves the store's as they are.
  public let rules: Rules?
  private let codec: any Codec<Value>

  init(namespace: Namespace, codec: any Codec<Value>, rules: Rules?) {
    self.namespace = namespace
    self.codec = codec
    self.rules = rules
  }

  public var name: String { namespace.name }
  public var codecID: CodecID { codec.id }

  func encode(_ value: Value) throws(LarderError) -> [UInt8] {
    do {
      return try codec.encode(value)
    } catch {
      throw LarderError(
        .unencodable, "a \(Value.self) for namespace \(name) cannot be encoded: \(error)",
        hint: "store a value that its codec can express")
    }
  }

  /// The fresh value under `key`, or nil. A value that the codec cannot read is a miss that is counted, and gives way to
  /// the next write.
  public func value(for key: some StoreKey) throws -> Value? {
    try namespace.withValue(for: key) { bytes in decodeCounting(bytes) } ?? nil
  }

  /// The fresh value under `key`, or nil; throws ``LarderError/Code/undecodable`` if the codec cannot read it.
  public func strictValue(for key: some StoreKey) throws -> Value? {
    try namespace.withValue(for: key) { bytes in
      do {
        return try codec.decode(bytes)
      } catch {
        namespace.handle.countUndecodable()
        throw LarderError(
          .undecodable, "a value in namespace \(name) is no \(Value.self): \(error)",
          hint: "write it again, or read it with the type it was written with")
      }
    }
  }

  private func canDecode(_ bytes: [UInt8]) -> Bool {
    do {
      _ = try codec.decode(bytes.span)
      return true
    } catch {
      return false
    }
  }

  func decodeCounting(_ bytes: Span<UInt8>) -> Value? {
    do {
      return try codec.decode(bytes)
    } catch {
      namespace.handle.countUndecodable()
      return nil
    }
  }
}

extension Cache {
  /// Declares the rules unless they are known to be declared, so that what a lower limit evicts leaves in bounded steps.
  private func declareRules() throws(LarderError) {
    guard let rules else { return }
    let known = namespace.handle.record.withLock { $0?.record.rules.declared }
    if known != rules.inMilliseconds { try namespace.store.declare(rules, for: name) }
  }

  /// Stores `value` under `key`; what was there is replaced.
  ///
  /// Without `expires` it stays for as long as the namespace's rules say.
  public func set(_ value: Value, for key: some StoreKey, expires: Expiration? = nil) throws {
    // Other writers need not wait for the codec.
    let bytes = try encode(value)
    try declareRules()
    try namespace.store.checkWritable()
    try namespace.core.write { batch in
      try batch.set(encoded: bytes, for: key, in: self, expires: expires)
    }
  }

  /// Stores `value` unless a read would find one under `key`; whether it did.
  @discardableResult
  public func setIfAbsent(_ value: Value, for key: some StoreKey, expires: Expiration? = nil) throws
    -> Bool
  {
    let bytes = try encode(value)
    try declareRules()
    try namespace.store.checkWritable()
    return try namespace.core.write { batch in
      let present = try batch.value(for: key, in: namespace)
      if let present, canDecode(present) { return false }
      try batch.set(encoded: bytes, for: key, in: self, expires: expires)
      return true
    }
  }

  @discardableResult
  public func remove(_ key: some StoreKey) throws -> Bool { try namespace.remove(key) }

  /// Whether there is a fresh entry under `key`; decodes nothing and counts nothing.
  public func contains(_ key: some StoreKey) throws -> Bool { try namespace.contains(key) }

  /// What is known of the entry under `key`, be it expired; decodes nothing and counts nothing.
  public func entry(for key: some StoreKey) throws -> Entry? { try namespace.entry(for: key) }

  @discardableResult
  public func touch(_ key: some StoreKey, expires: Expiration? = nil) throws -> Bool {
    try namespace.touch(key, expires: expires)
  }

  @discardableResult
  public func expire(_ key: some StoreKey, _ expires: Expiration) throws -> Bool {
    try namespace.expire(key, expires)
  }

  @discardableResult
  public func persist(_ key: some StoreKey) throws -> Bool { try namespace.persist(key) }

  /// The facts of up to `limit` entries in key order, behind `cursor`; see ``Namespace/page(limit:after:prefix:)``.
  public func page(
    limit: Int = 100, after cursor: PageCursor? = nil, prefix: some StoreKey = [UInt8]()
  ) throws -> Page<Entry> {
    try namespace.page(limit: limit, after: cursor, prefix: prefix)
  }

  /// How many entries are stored; see ``Namespace/count()``.
  public func count() throws -> Int { try namespace.count() }

  /// Removes every entry at once; see ``Namespace/clear()``.
  @discardableResult
  public func clear() throws -> Removal { try namespace.clear() }
}

extension Store {
  /// A view of the namespace `name` as values of a `Codable` type, stored as JSON so that the shell can show them.
  public func cache<Value: Codable & Sendable>(
    of type: Value.Type, in name: String, rules: Rules? = nil
  ) -> Cache<Value> {
    cache(JSONCodec<Value>(), in: name, rules: rules)
  }

  /// A view of the namespace `name` through a codec of your own.
  public func cache<Value>(_ codec: some Codec<Value>, in name: String, rules: Rules? = nil)
    -> Cache<Value>
  {
    Cache(namespace: namespace(name), codec: codec, rules: rules)
  }
}
