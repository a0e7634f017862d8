/// The limit that an eviction is for, the namespace that evicts, and the entries that must stay.
struct RoomRequest {
  enum Cause {
    /// The limits of the namespace.
    case namespace
    /// A limit of the store, for which this namespace was chosen to evict.
    case store(RemovalReason)
  }

  var cause: Cause
  var id: NamespaceID
  var limits: Limits
  /// The number of entries that may be evicted.
  var left = Int.max
  /// Bytes that the namespace must keep.
  var guaranteed: UInt64 = 0
  var protected = ProtectedEntries.none
  /// Queue positions of entries that were found impossible to evict.
  var skipped: Set<UInt64> = []
  /// Whether the newest entry must stay, too.
  var keepsNewest = false
}
