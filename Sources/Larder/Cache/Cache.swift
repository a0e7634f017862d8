import LMDB
import Synchronization

/// A typed view of a namespace: values of one type, turned into bytes and back by a codec.
///
/// Values that were read stay decoded in memory, within ``MemoryLimits``. A read answers the same with and without that,
/// whatever any process writes: see ``CacheMemory``.
public struct Cache<Value: Sendable>: Sendable {
  /// The bytes behind it.
  public let namespace: Store.Namespace
  /// The rules code declares for the namespace; stored with the first write. Nil leaves the store's as they are.
  public let rules: Rules?
  /// The decoded values kept in memory; nil if none are.
  public let memory: CacheMemory?
  private let memoryOwner: MemoryOwner?
  let codec: any Codec<Value>
  /// What a value costs in memory; nil for the bytes of its encoded form.
  private let cost: (@Sendable (Value) -> Int)?

  init(
    namespace: Store.Namespace, codec: some Codec<Value>, rules: Rules?, memory: MemoryLimits?,
    cost: (@Sendable (Value) -> Int)?
  ) {
    self.namespace = namespace
    self.codec = codec
    self.rules = rules
    self.cost = cost
    let kept = namespace.engine.memory.memory(
      of: codec, for: namespace.handle, limits: memory, in: namespace.engine)
    self.memory = kept?.memory
    memoryOwner = kept?.owner
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

  func canDecode(_ bytes: [UInt8]) -> Bool {
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

  func decodeStrictly(_ bytes: Span<UInt8>) throws -> Value? {
    do {
      return try codec.decode(bytes)
    } catch {
      namespace.handle.countUndecodable()
      throw LarderError(
        .undecodable, "a value in namespace \(name) is no \(Value.self): \(error)",
        hint: "write it again, or read it with the type it was written with")
    }
  }

  /// Keeps a value that the entry has in a snapshot.
  func keep(
    _ value: Value, for key: Span<UInt8>, size: Int, id: NamespaceID, header: EntryHeader,
    snapshot: UInt64
  ) {
    memory?.keep(
      MemoryBox(value), for: key, cost: cost.map { $0(value) } ?? size, id: id, header: header,
      snapshot: snapshot, now: namespace.engine.coarseNow)
  }
}

extension Cache {
  /// Whether there is a fresh entry under `key`; decodes nothing and counts nothing.
  public func contains(_ key: some StoreKey) throws -> Bool { try namespace.contains(key) }

  /// What is known of the entry under `key`, be it expired; decodes nothing and counts nothing.
  public func entry(for key: some StoreKey) throws -> Store.Entry? { try namespace.entry(for: key) }

  /// The facts of up to `limit` entries in key order, behind `cursor`; see ``Store/Namespace/page(limit:after:prefix:)``.
  public func page(
    limit: Int = 100, after cursor: PageCursor? = nil, prefix: some StoreKey = [UInt8]()
  ) throws -> Page<Store.Entry> {
    try namespace.page(limit: limit, after: cursor, prefix: prefix)
  }

  /// How many entries are stored; see ``Store/Namespace/count()``.
  public func count() throws -> Int { try namespace.count() }

  /// Removes every entry at once; see ``Store/Namespace/clear()``.
  @discardableResult
  public func clear() throws -> RemovalResult { try namespace.clear() }
}

extension Store {
  /// A view of the namespace `name` as values of a `Codable` type, stored as JSON so that the shell can show them.
  ///
  /// - Parameters:
  ///   - memory: how much is kept decoded in memory; without it what another cache of the kind has said, else
  ///     ``MemoryLimits/default``. ``MemoryLimits/off`` keeps nothing for this cache.
  ///   - cost: what a value costs in memory; without it the bytes of its encoded form.
  public func cache<Value: Codable & Sendable>(
    of type: Value.Type, in name: String, rules: Rules? = nil, memory: MemoryLimits? = nil,
    cost: (@Sendable (Value) -> Int)? = nil
  ) -> Cache<Value> {
    cache(JSONCodec<Value>(), in: name, rules: rules, memory: memory, cost: cost)
  }

  /// A view of the namespace `name` through a codec of your own.
  ///
  /// Caches share what they keep in memory if their codecs are equal or of a type without stored properties. A codec with
  /// properties that is not `Equatable` has a memory of its own: make such a cache once, and keep it.
  public func cache<Value>(
    _ codec: some Codec<Value>, in name: String, rules: Rules? = nil, memory: MemoryLimits? = nil,
    cost: (@Sendable (Value) -> Int)? = nil
  ) -> Cache<Value> {
    Cache(namespace: namespace(name), codec: codec, rules: rules, memory: memory, cost: cost)
  }
}
