import LMDB
import LarderSystem

/// The limits of the store that a batch must keep. The limits of a namespace are in the rules of the namespace.
struct SpaceBudget {
  var limits: StoreLimits
  /// The pages that the batch may use; nil if there is no disk limit, or if the file is far from the limit.
  var disk: BatchPages?
  var missingPages = 0
  var isOverdrawn = false

  init(_ limits: StoreLimits) { self.limits = limits }

  /// Whether the disk limit is so near that this batch counts pages.
  var hasDiskLimit: Bool { disk != nil }

  func exceededLimit(_ usage: Usage) -> RemovalReason? {
    if let most = limits.entries, usage.entries > UInt64(clamping: most) {
      return .evictedForStoreEntries
    }
    if let most = limits.bytes, usage.bytes > UInt64(clamping: most) {
      return .evictedForStoreBytes
    }
    return nil
  }

  /// Whether the entries or bytes, with the entry that is about to be stored, exceed a limit of the store.
  func isOver(_ session: borrowing WriteSession) -> Bool {
    exceededLimit(session.ledger.expectedTotal) != nil
  }

  /// Whether a namespace without its own limit counts bytes instead of entries.
  var countsBytes: Bool { limits.bytes != nil || limits.entries == nil }

  /// Whether less than 1/32 of a limit of the store is left.
  func isNearlyFull(_ session: borrowing WriteSession) -> Bool {
    if Limits(entries: limits.entries, bytes: limits.bytes)
      .isNearlyReached(by: session.ledger.expectedTotal)
    {
      return true
    }
    return disk.map { session.usesMore(than: $0.usable - $0.usable / 32) } ?? false
  }

  /// Throws if the sum of all guarantees exceeds the store's limits. For `changed`, `guaranteed` counts. O(namespaces).
  func checkGuarantees(
    of changed: String?, _ guaranteed: Int, _ session: inout WriteSession
  ) throws(LarderError) {
    let usableDisk = limits.usableDisk(pageSize: session.engine.pageSize)
    guard let most = [limits.bytes, usableDisk].compactMap({ $0 }).min() else { return }
    var sum = guaranteed
    for name in try session.namespaceNames() where !name.isExactly(changed) {
      let own = try session.namespace(name)?.rules.limits.guaranteed ?? 0
      sum = sum.addingReportingOverflow(own).overflow ? .max : sum + own
    }
    guard sum > most else { return }
    throw LarderError(
      .invalidArgument,
      "\(sum) bytes would be guaranteed to namespaces, but \(session.engine.environment.path) may hold \(most) bytes",
      hint: "guarantee less, or raise the store's limits")
  }
}

struct RoomRequest {
  var id: NamespaceID
  var limits: Limits
  /// The limit of the store for which this namespace must evict; nil if it must evict for its own limits.
  var reason: RemovalReason?
  var evictionsLeft = Int.max
  var guaranteed: UInt64 = 0
  /// The queue positions of entries that could not be evicted, so that they are not tried again.
  var skipped: Set<UInt64> = []
  var keepsNewest = false
}
