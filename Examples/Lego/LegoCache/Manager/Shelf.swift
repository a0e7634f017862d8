import Larder

/// The storage of one kind's values under any plan.
enum Shelf<Value: Codable & Sendable>: Sendable {
  case cache(Cache<Value>)
  case memory(MemoryShelf<Value>)

  /// The stored or loaded value; nil if there is none.
  func answer(
    for key: String, options: LoadOptions,
    _ load: @escaping @Sendable (CachedValue<Value>?) async throws -> LoadOutcome<Value>
  ) async throws -> CacheResult<Value>? {
    switch self {
    case .cache(let cache):
      return try await cache.revalidatedResult(for: key, options: options, load: load)
    case .memory(let shelf):
      return try await shelf.answer(for: key, options: options, load)
    }
  }
}
