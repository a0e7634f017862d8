/// A value that was read or loaded, with its source.
public struct CacheResult<Value: Sendable>: Sendable {
  /// The source of a value.
  public enum Source: String, Sendable, Codable {
    /// The value is fresh, and was in the memory tier.
    case memory
    /// The value is fresh and was decoded from the store.
    case disk
    /// The value was just read from the shared tier. Only a cache with a shared tier returns this source.
    case shared
    /// The value was just loaded, by this caller or another caller, or the origin has confirmed the stored value.
    case loaded
    /// The value is stored but not fresh, or was returned because a load failed or takes too long.
    case stale
  }

  /// The value.
  public var value: Value
  /// The place from which the value came.
  public var source: Source
  /// The time since the value was written, at least zero; zero for a value that was just loaded.
  public var age: Duration
  /// Why a stored value was returned in place of a newer value, or why a loaded value could not be stored; otherwise nil.
  public var error: (any Error)?

  /// Whether the value is committed to the store, so that every process finds the value. False while a loaded value waits for
  /// its commit, although reads of this process find the value. Also false if the value could not be stored.
  public var isCommitted: Bool

  /// Whether the value is as new as the cache promises. False in a cache with a shared tier if this machine cannot read the
  /// changes of other machines at present, or if the value replaces a load that failed. Always true in a ``Cache``.
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
