import LMDB
import LarderSystem

/// The limits of the store that a batch must keep. The limits of a namespace are in the rules of the namespace.
struct SpaceBudget {
  var limits: StoreLimits
  /// The pages that the batch may use; nil if there is no disk limit, or if the file is far from the limit.
  var disk: BatchPages?
  var missingPages = 0
  var isOverdrawn = false

  /// Whether a namespace without its own limit counts bytes instead of entries.
  var countsBytes: Bool { limits.bytes != nil || limits.entries == nil }

  func mayEvict(_ rules: Rules) -> Bool {
    rules.limits.evicts || limits.counted.evicts || disk != nil
  }
}

extension WriteSession {
  /// Whether a namespace exceeds a limit. The entry that is about to be stored is included.
  func exceeds(_ limits: Limits, in id: NamespaceID) -> Bool {
    limits.exceeded(by: ledger.expectedUsage(id)) != nil
  }

  /// The reason to evict if the store, with the entry that is about to be stored, exceeds a limit of entries or bytes.
  var exceededLimit: RemovalReason? {
    budget.limits.counted.exceeded(
      by: ledger.expectedTotal, .evictedForStoreEntries, .evictedForStoreBytes)
  }

  var isStoreOver: Bool { exceededLimit != nil }

  var isNearlyFull: Bool {
    if budget.limits.counted.isNearlyReached(by: ledger.expectedTotal) { return true }
    guard let usable = budget.disk?.usable else { return false }
    return usesMore(than: usable - usable / 32)
  }

  /// Throws if the sum of all guarantees exceeds the limits. The namespace `changed` counts with `guaranteed`. O(namespaces).
  mutating func checkGuarantees(of changed: String?, _ guaranteed: Int) throws(LarderError) {
    let usableDisk = budget.limits.usableDisk(pageSize: engine.pageSize)
    guard let most = [budget.limits.bytes, usableDisk].compactMap({ $0 }).min() else { return }
    var sum = guaranteed
    for namespace in try namespaces() where !namespace.name.isExactly(changed) {
      sum = sum.saturatingAdding(namespace.rules.limits.guaranteed ?? 0)
    }
    guard sum > most else { return }
    throw LarderError(
      .invalidArgument,
      "\(sum) bytes would be guaranteed to namespaces, but \(engine.environment.path) may hold \(most) bytes",
      hint: "guarantee less, or raise the store's limits")
  }
}

struct RoomRequest {
  var id: NamespaceID
  var limits: Limits
  /// The limit of the store for which this namespace must evict; nil if the namespace must evict for its own limits.
  var reason: RemovalReason?
  var evictionsLeft = Int.max
  var guaranteed: UInt64 = 0
  /// The queue positions of entries that must stay or could not be evicted.
  var skipped: Set<UInt64> = []
  /// The keys of the topmost owners of each group that must stay.
  var staying: Set<Set<[UInt8]>> = []
}
