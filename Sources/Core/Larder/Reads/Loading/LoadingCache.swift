/// A cache with a loader, from ``Cache/loading(options:_:)``. Reads load values that are missing or stale.
///
/// Making a `LoadingCache` writes nothing. A ``Cache`` of the same namespace and type finds the same entries and shares loads.
public struct LoadingCache<Key: StoreKey & Sendable, Value: Sendable>: Sendable {
  /// The cache whose entries are read and written.
  public let cache: Cache<Value>
  /// How values are read, loaded and stored.
  public var options: LoadOptions
  fileprivate let load: @Sendable (Key, CachedValue<Value>?) async throws -> Loaded<Value>

  /// The value under `key`, which is read or loaded. `policy` replaces the policy of ``options``; nil keeps the policy.
  public func value(for key: Key, policy: RequestPolicy? = nil) async throws -> Value? {
    try await result(for: key, policy: policy)?.value
  }

  /// Like ``value(for:policy:)``, with the value's source and age.
  public func result(
    for key: Key, policy: RequestPolicy? = nil
  ) async throws -> CacheResult<Value>? {
    var options = options
    if let policy { options.policy = policy }
    return try await cache.result(for: key, options: options) { [load] stored in
      try await load(key, stored)
    }
  }

  /// Loads the value under `key`, even if a fresh value is stored, and stores the loaded value; see ``RequestPolicy/reload``.
  @discardableResult
  public func refresh(_ key: Key) async throws -> Value? {
    try await value(for: key, policy: .reload)
  }

  /// Loads the values that are not fresh; see ``Cache/prefetch(_:options:concurrency:pause:priority:load:)``.
  public func prefetch(
    _ keys: some Sequence<Key>, concurrency: Int = 2, pause: Duration = .zero,
    priority: TaskPriority? = .utility
  ) throws(LarderError) -> Prefetch<Key> {
    try cache.prefetch(
      keys, options: options, concurrency: concurrency, pause: pause, priority: priority, load: load
    )
  }
}

extension Cache {
  /// A view of this cache with a loader. Reads of the view load missing and stale values.
  ///
  /// - Parameter load: loads the value of a key. The second argument is the stored value, fresh or stale, or nil.
  public func loading<Key: StoreKey & Sendable>(
    options: LoadOptions = LoadOptions(),
    _ load: @escaping @Sendable (Key, CachedValue<Value>?) async throws -> Loaded<Value>
  ) -> LoadingCache<Key, Value> { LoadingCache(cache: self, options: options, load: load) }
}
