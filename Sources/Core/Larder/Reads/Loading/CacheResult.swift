/// A value that was read or loaded, with its source.
public struct CacheResult<Value: Sendable>: Sendable {
  /// The source of a value.
  public enum Source: String, Sendable, Codable {
    /// The value is fresh and was decoded earlier.
    case memory
    /// The value is fresh and was decoded from the store.
    case disk
    /// The value was just read from the shared tier; only a cache with such a tier returns it.
    case shared
    /// A load of this caller or of another caller just returned the value, or the origin confirmed the value as unchanged.
    case loaded
    /// The stored value was served although it is not fresh, or although a load was asked for and failed or is late.
    case stale
  }

  /// The value.
  public var value: Value
  /// Where the value came from.
  public var source: Source
  /// Time since the value was written, at least zero; zero for a value loaded just now.
  public var age: Duration
  /// Why the stored value was served instead of a newer value, or why a loaded value could not be stored; otherwise nil.
  public var error: (any Error)?

  /// Whether the store has the value, so that every process finds it. False for a value that was just loaded and waits for its
  /// commit, and for a value that could not be stored. Reads of this process already find a waiting value.
  public var isCommitted: Bool

  /// Whether the value is as new as the cache promises. False in a cache with a shared tier while this machine cannot read the
  /// changes of other machines. Always true in a ``Cache``.
  public var isConfirmed = true

  /// Whether ``source`` is ``Source/stale``.
  public var isStale: Bool { source == .stale }

  /// Makes a result without a cache, for tests and for caches of other kinds.
  public init(
    value: Value, source: Source, age: Duration = .zero, error: (any Error)? = nil,
    isCommitted: Bool? = nil
  ) {
    self.value = value
    self.source = source
    self.age = age
    self.error = error
    self.isCommitted = isCommitted ?? (source != .loaded || error == nil)
  }
}
