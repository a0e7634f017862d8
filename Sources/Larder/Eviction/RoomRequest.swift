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

/// Entries that an eviction must not remove: the one being written, and its owners.
struct ProtectedEntries {
  static let none = ProtectedEntries(written: nil, owners: [])

  /// The entry key of the entry being written.
  let written: [UInt8]?
  /// The entry keys of its owners.
  let owners: [[UInt8]]

  func contains(_ entryKey: [UInt8]) -> Bool {
    written == entryKey || owners.contains(entryKey)
  }

  var all: [[UInt8]] { (written.map { [$0] } ?? []) + owners }
}
