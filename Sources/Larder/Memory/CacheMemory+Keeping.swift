import LMDB
import LarderSystem
import Synchronization

extension CacheMemory {
  /// Keeps the value that an entry has in a snapshot.
  ///
  /// A present value of a later snapshot stays.
  func keep(
    _ box: any AnyMemoryBox, for key: Span<UInt8>, cost: Int, id: NamespaceID, header: EntryHeader,
    snapshot: UInt64, now: Int64
  ) {
    let cost = max(0, cost)
    let limits = limits
    let size = MemoryUsage(cost: cost, entries: 1)
    guard limits.capacity.holds(size), let spare = budget.reserve(cost, for: self) else {
      // An older value must not stay in the place of one that cannot be kept.
      if let item = item(key) { remove(item) }
      return
    }
    let item = MemoryItem(
      key: key, hash: hash(of: key), cost: cost, end: limits.end(from: now), box: box,
      id: id, header: header, snapshot: snapshot)
    budget.release(put(item, spare: spare, now: now))
  }

  /// Inserts an item and evicts others for it.
  ///
  /// - Parameter spare: the cost that the budget has left besides the item.
  /// - Returns: the cost of all values that are not kept, for the budget.
  private func put(_ item: MemoryItem, spare: Int, now: Int64) -> Int {
    let size = MemoryUsage(cost: item.cost, entries: 1)
    // Released after the lock.
    var leaving: [MemoryItem] = []
    var replaced: MemoryItem?
    let isKept = state.withLock { state in
      let capacity = state.limits.capacity
      guard capacity.holds(size) else { return false }
      let stripe = Self.stripe(of: item.hash)
      let present = shards.withLock(stripe) { $0.item(withKeyOf: item) }
      if let present, present.snapshot > item.snapshot { return false }
      // While the caches of the store are full, this one is as large as it can be.
      let bound = MemoryUsage(
        cost: state.policy.usage.cost.saturatingAdding(item.cost).saturatingAdding(spare),
        entries: .max)
      if let present {
        leaving = state.policy.replace(present, by: item, capacity: capacity, now: now)
        replaced = present
      } else {
        leaving = state.policy.insert(item, capacity: capacity.limited(to: bound), now: now)
      }
      firstRecent.store(state.policy.firstRecent, ordering: .relaxed)
      forget(leaving)
      let previous = shards.withLock(stripe) { $0.put(item) }
      assert(previous === replaced)
      return true
    }
    counters.add(UInt64(leaving.count), to: MemoryCounts.Kind.evictions.rawValue)
    let left = leaving.reduce(0) { $0 + $1.cost } + (replaced?.cost ?? 0)
    return isKept ? left : left + item.cost
  }
}
