import LarderSystem

/// A cache with a loader: reads load values that are missing or stale.
///
/// ``Cache/loading(options:_:)`` makes one.
///
/// It adds nothing to the store: a ``Cache`` of the same namespace sees the same entries, and shares loads of the same key.
public struct LoadingCache<Key: StoreKey & Sendable, Value: Sendable>: Sendable {
  /// The cache that is read and written.
  public let cache: Cache<Value>
  /// How values are read, loaded and stored.
  public var options: LoadOptions
  private let load: @Sendable (Key) async throws -> Value

  fileprivate init(
    _ cache: Cache<Value>, options: LoadOptions = LoadOptions(),
    load: @escaping @Sendable (Key) async throws -> Value
  ) {
    self.cache = cache
    self.options = options
    self.load = load
  }

  /// The value under `key`, read or loaded; see `value(for:options:load:)` of ``Cache``.
  ///
  /// - Parameter policy: replaces the policy of ``options``; nil keeps it.
  public func value(for key: Key, policy: RequestPolicy? = nil) async throws -> Value {
    try await result(for: key, policy: policy).value
  }

  /// The same as ``value(for:policy:)``, with the value's source and age.
  public func result(
    for key: Key, policy: RequestPolicy? = nil
  ) async throws -> CacheResult<Value> {
    var options = options
    if let policy { options.policy = policy }
    return try await cache.result(for: key, options: options) { [load] in try await load(key) }
  }

  /// Loads the value under `key` whatever is stored, and stores it; the same as the policy ``RequestPolicy/reload``.
  @discardableResult
  public func refresh(_ key: Key) async throws -> Value {
    try await value(for: key, policy: .reload)
  }

  /// Loads those of the keys that are not fresh; see
  /// ``Cache/prefetch(_:options:concurrency:pause:priority:load:)``.
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
  /// This cache with a loader, so that reads load values that are missing or stale:
  ///
  ///     let boards = store.cache(of: Board.self, in: "boards").loading { (station: String) in
  ///       try await api.board(station)
  ///     }
  ///     let board = try await boards.value(for: "thun")
  ///
  /// - Parameter load: loads the value of a key.
  public func loading<Key: StoreKey & Sendable>(
    options: LoadOptions = LoadOptions(), _ load: @escaping @Sendable (Key) async throws -> Value
  ) -> LoadingCache<Key, Value> {
    LoadingCache(self, options: options, load: load)
  }
}
