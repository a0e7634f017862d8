#if Hummingbird
  public import Hummingbird
  public import Larder

  /// Data that a server persists between requests, such as sessions, as entries of a namespace: JSON, which the shell can show.
  ///
  /// All processes of the store share the values. A value is removed after its lifetime, or by an eviction for a limit.
  public struct LarderPersistDriver: PersistDriver {
    /// The namespace that holds the values.
    public let namespace: Store.Namespace

    /// - Parameter namespace: holds the values. The rules of the namespace give a lifetime to values that have none of their own.
    public init(in namespace: Store.Namespace) { self.namespace = namespace }

    /// Stores a value under a new key. If several processes create a key at the same time, one of these processes succeeds.
    ///
    /// - Throws: `PersistError.duplicate` if the key has a value; `LarderError` for an invalid key, for a value that is too
    ///   large or has no room, and if the store fails.
    public func create<Object: Codable & Sendable>(
      key: String, value: Object, expires: Duration?
    ) async throws {
      let bytes = try JSONCodec<Object>().encode(value)
      let attributes = EntryAttributes(codec: .json, expires: expires.map { .after($0) })
      try await namespace.store.commit(size: bytes.count) { [namespace] batch in
        if try batch.value(for: key, in: namespace) != nil { throw PersistError.duplicate }
        try batch.set(bytes, for: key, in: namespace, attributes)
      }
    }

    /// Stores a value; an earlier value is replaced.
    ///
    /// - Parameter expires: the lifetime; nil keeps the expiry and the time to idle of the present value.
    /// - Throws: `LarderError` as ``create(key:value:expires:)`` does.
    public func set<Object: Codable & Sendable>(
      key: String, value: Object, expires: Duration?
    ) async throws {
      let bytes = try JSONCodec<Object>().encode(value)
      try await namespace.store.commit(size: bytes.count) { [namespace] batch in
        var attributes = EntryAttributes(codec: .json, expires: expires.map { .after($0) })
        if expires == nil, let present = try batch.entry(for: key, in: namespace),
          present.state == .fresh
        {
          attributes.expires = present.expires.map { .at($0) } ?? .never
          attributes.idle = present.timeToIdle
        }
        try batch.set(bytes, for: key, in: namespace, attributes)
      }
    }

    /// The value; nil if the key has no value, or an expired value.
    ///
    /// - Throws: `PersistError.invalidConversion` if the value is not of this type; `LarderError` if the store fails.
    public func get<Object: Codable & Sendable>(
      key: String, as type: Object.Type
    ) async throws -> Object? {
      try namespace.value(for: key).map { try decoded($0.span, as: type) }
    }

    /// The value and its remaining lifetime. The lifetime is nil if the value does not expire. Throws as ``get(key:as:)`` does.
    public func getWithTTL<Object: Codable & Sendable>(
      key: String, as type: Object.Type
    ) async throws -> (object: Object, ttl: Duration?)? {
      let clock = namespace.store.clock
      return try namespace.store.read { snapshot in
        guard let bytes = try snapshot.value(for: key, in: namespace),
          let entry = try snapshot.entry(for: key, in: namespace)
        else { return nil }
        let left = entry.expires.map { max(.zero, clock.now.duration(to: $0)) }
        return (try decoded(bytes.span, as: type), left)
      }
    }

    /// Removes the value, if there is one.
    public func remove(key: String) async throws { _ = try await namespace.remove(key) }

    private func decoded<Object: Codable & Sendable>(
      _ bytes: Span<UInt8>, as type: Object.Type
    ) throws -> Object {
      do { return try JSONCodec<Object>().decode(bytes) } catch {
        throw PersistError.invalidConversion
      }
    }
  }
#else
  @available(
    *, unavailable,
    message:
      "LarderHummingbird needs the trait Hummingbird: .package(..., traits: [\"Hummingbird\"])"
  )
  public struct LarderPersistDriver {}
#endif
