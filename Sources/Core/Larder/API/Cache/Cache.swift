/// A typed view of a namespace. All its values have one type, and a codec encodes and decodes the values.
///
/// Decoded values stay in memory, within ``MemoryLimits``. A read never returns a value that any process has replaced.
public struct Cache<Value: Sendable>: Sendable {
  /// The namespace, which gives the entries of this cache as bytes.
  public let namespace: Store.Namespace
  /// The rules that this cache declares; nil leaves the store's rules unchanged. Each opening of the store declares these rules
  /// once, when a cache with the rules writes its first value.
  public let rules: Rules?
  /// The decoded values in memory; nil if the cache keeps no values in memory.
  public let memory: CacheMemory?
  private let memoryOwner: MemoryOwner?
  let codec: any Codec<Value>
  private let cost: (@Sendable (Value) -> Int)?

  init(
    namespace: Store.Namespace, codec: some Codec<Value>, rules: Rules?, memory: MemoryLimits?,
    cost: (@Sendable (Value) -> Int)?
  ) {
    self.namespace = namespace
    self.codec = codec
    self.rules = rules
    self.cost = cost
    memoryOwner = namespace.engine.memory.memory(
      of: codec, for: namespace.handle, limits: memory, in: namespace.engine)
    self.memory = memoryOwner?.memory
  }

  /// The namespace's name.
  public var name: String { namespace.name }
  var codecID: CodecID { codec.id }

  package func encode(_ value: Value) throws(LarderError) -> [UInt8] {
    do { return try codec.encode(value) } catch {
      throw LarderError(
        .unencodable, "a \(Value.self) for namespace \(name) cannot be encoded: \(error)",
        hint: "store a value that its codec can express")
    }
  }

  func decoded(_ bytes: Span<UInt8>) -> Value? {
    do { return try codec.decode(bytes) } catch { return nil }
  }

  /// Decodes a value whose read was counted as a hit. For an undecodable value, changes the count from a hit to a miss.
  func decodeCounting(_ bytes: Span<UInt8>) -> Value? {
    if let value = decoded(bytes) { return value }
    namespace.handle.count(.undecodable)
    return nil
  }

  func decodeStrictly(_ bytes: Span<UInt8>, isHit: Bool = true) throws(LarderError) -> Value {
    do { return try codec.decode(bytes) } catch {
      if isHit { namespace.handle.count(.undecodable) }
      throw LarderError(
        .undecodable, "a value in namespace \(name) is not a \(Value.self): \(error)",
        hint: "write it again, or read it with the type it was written with")
    }
  }

  /// Keeps a value in the memory tier, except a value that was just written with a codec that may lose a part of a value.
  func keep(
    _ value: Value, for key: Span<UInt8>, size: Int, _ stored: Stored, isWritten: Bool = false
  ) {
    guard let memory, !isWritten || codec.isLossless else { return }
    let engine = namespace.engine
    engine.memory.trimUnderPressure(at: engine.clock.coarseNow)
    memory.keep(
      value, for: key, cost: cost.map { $0(value) } ?? size, stored, now: engine.clock.coarseNow)
  }
}

extension Store {
  /// A view of the namespace `name` as values of a `Codable` type. The values are stored as JSON, so the shell can show the
  /// values. `Data` and `[UInt8]` are stored unchanged.
  ///
  /// Making a cache writes nothing. The first write declares the rules. With an invalid name, reads find nothing and writes
  /// throw ``LarderError/Code/invalidArgument``.
  ///
  /// - Parameters:
  ///   - rules: the rules that this opening declares once; nil does not change the store's rules.
  ///   - memory: the limits of the decoded values in memory. ``MemoryLimits/off`` turns the memory tier off for this cache. Nil
  ///     keeps the limits of the caches with which this cache shares its values. If no such cache exists, nil means
  ///     ``MemoryLimits/default``. If caches that share values set different limits, the newest limits hold. But limits that
  ///     one of these caches has set before have no effect when another cache sets the same limits again.
  ///   - cost: the cost of a value in memory; nil means the number of bytes of the encoded value.
  public func cache<Value: Codable & Sendable>(
    of type: Value.Type, in name: String, rules: Rules? = nil, memory: MemoryLimits? = nil,
    cost: (@Sendable (Value) -> Int)? = nil
  ) -> Cache<Value> {
    // Compares the type at run time, because in generic code Swift would not choose an overload for `Data`.
    let raw: (any Sendable)? =
      type == DataCodec.Value.self ? DataCodec() : type == [UInt8].self ? BytesCodec() : nil
    let codec: any Codec<Value> = (raw as? any Codec<Value>) ?? JSONCodec<Value>()
    return cache(codec, in: name, rules: rules, memory: memory, cost: cost)
  }

  /// A view of the namespace `name` through a codec.
  ///
  /// Caches share their values in memory if their codecs are equal, or have the same type without stored properties. If a codec
  /// has properties and is not `Equatable`, its cache shares values with no other cache, so make such a cache only once.
  public func cache<Value>(
    _ codec: some Codec<Value>, in name: String, rules: Rules? = nil, memory: MemoryLimits? = nil,
    cost: (@Sendable (Value) -> Int)? = nil
  ) -> Cache<Value> {
    Cache(namespace: namespace(name), codec: codec, rules: rules, memory: memory, cost: cost)
  }
}
