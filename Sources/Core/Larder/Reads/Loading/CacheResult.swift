import LarderSystem

/// A value that was read or loaded, and where it came from.
public struct CacheResult<Value: Sendable>: Sendable {
  /// Where a value came from.
  public enum Source: String, Sendable, Codable {
    /// Fresh, and decoded before.
    case memory
    /// Fresh, decoded from the store.
    case disk
    /// Read just now from the tier that machines share; only a cache with such a tier returns it.
    case shared
    /// Loaded just now by this caller or another caller of the key, or confirmed as unchanged by its origin.
    case loaded
    /// Past its expiry: a refresh runs in the background, or the load failed, or the policy asked for no load.
    case stale
  }

  /// The value.
  public var value: Value
  /// Where the value came from.
  public var source: Source
  /// Time since the value was written, at least zero; zero for a value loaded just now.
  public var age: Duration
  /// Why a stale value was served instead of a newer one, or why a loaded value could not be stored; nil if neither
  /// happened.
  public var error: (any Error)?

  /// Whether the value is in the store, where every process finds it. False for a value that was loaded just now and waits for
  /// its commit, and for a value that could not be stored. Reads of this process already find a value that waits.
  public var isCommitted: Bool

  /// Whether the value is as new as the cache promises. False in a cache that machines share while this machine cannot
  /// read the changes of the others. Always true in a ``Cache``.
  public var isConfirmed = true

  /// Whether the value is past its expiry.
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
