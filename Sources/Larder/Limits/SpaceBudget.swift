import LMDB
import LarderSystem

/// The limits of the store as a batch keeps to them: entries, bytes, and pages of the data file.
///
/// Its methods make room by eviction before an entry is stored. The limits of namespaces come with their rules.
struct SpaceBudget {
  private(set) var limits: StoreLimits
  /// The pages left in the data file; nil without a disk limit, and far from it.
  var disk: DiskRoom?
  /// The pages of the value for which room is being made.
  var missingPages = 0
  /// Whether the batch failed because too few pages were left.
  var isOverdrawn = false

  init(_ limits: StoreLimits) { self.limits = limits }

  /// Replaces the limits of entries and bytes within the batch that changes them.
  mutating func change(to limits: StoreLimits) { self.limits = limits }

  /// Whether the limit on disk is so near that this batch counts pages.
  var hasDiskLimit: Bool { disk != nil }

  /// The limit that the totals exceed, if any.
  func exceededLimit(_ state: StoreState) -> RemovalReason? {
    if let most = limits.entries, state.entries > UInt64(clamping: most) {
      return .evictedForStoreEntries
    }
    if let most = limits.bytes, state.bytes > UInt64(clamping: most) {
      return .evictedForStoreBytes
    }
    return nil
  }

  /// Whether a namespace without a limit of its own counts bytes, and not entries.
  var countsBytes: Bool { limits.bytes != nil || limits.entries == nil }

  /// Whether a limit of the store is reached but for a thirty-second.
  func isNearlyFull(_ writer: borrowing EntryWriter) -> Bool {
    if Limits(entries: limits.entries, bytes: limits.bytes)
      .isNearlyReached(by: writer.state.entries, writer.state.bytes)
    {
      return true
    }
    return disk.map { writer.usesMore(than: $0.usable - $0.usable / 32) } ?? false
  }
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
