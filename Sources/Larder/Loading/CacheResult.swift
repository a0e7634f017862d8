/// A value that was asked for where a miss is loaded, and where it came from.
public struct CacheResult<Value: Sendable>: Sendable {
  public enum Source: String, Sendable, Codable {
    /// Fresh, and decoded already.
    case memory
    /// Fresh, decoded from the store.
    case disk
    /// CacheResult just now, by this caller or another one that asked for the same, or found by its origin to be unchanged.
    case loaded
    /// Past its freshness: a newer one is being fetched, or was not to be had, or was not asked for.
    case stale
  }

  public var value: Value
  public var source: Source
  /// How long ago it was written; zero if it was loaded just now.
  public var age: Duration
  /// What went wrong on the way: why no newer value than this stale one was to be had, or why what was loaded could not be
  /// stored.
  public var error: (any Error)?

  /// For what answers as a cache does without being one, tests among them.
  public init(
    value: Value, source: Source, age: Duration = .zero, error: (any Error)? = nil
  ) {
    self.value = value
    self.source = source
    self.age = age
    self.error = error
  }
}
