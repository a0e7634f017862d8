import LMDB
import LarderSystem
import Synchronization

extension CacheMemory {
  /// Keeps a value as its entry has it in a snapshot: no later, whatever was committed meanwhile.
  ///
  /// Another that is known to be current later stays.
  func keep(
    _ box: any AnyMemoryBox, for key: Span<UInt8>, cost: Int, id: NamespaceID, header: EntryHeader,
    snapshot: UInt64, now: Int64
  ) {
    let cost = max(0, cost)
    let limits = limits
    let size = MemoryUsage(cost: cost, entries: 1)
    guard limits.capacity.holds(size), let spare = budget.reserve(cost, for: self) else {
      // What cannot be kept must not leave an older value in the way.
      if let item = item(key) { remove(item) }
      return
    }
    let item = MemoryItem(
      key: key, hash: hash(of: key), cost: cost, end: limits.end(from: now), box: box,
      id: id, header: header, snapshot: snapshot)
    budget.giveBack(put(item, spare: spare, now: now))
  }

  /// Puts an item in and what must leave for it out. What the budget gets back: the cost of all that is not kept.
  ///
  /// - Parameter spare: what the budget has left besides the item.
  private func put(_ item: MemoryItem, spare: Int, now: Int64) -> Int {
    let size = MemoryUsage(cost: item.cost, entries: 1)
    // Whatever is in these is let go of after the lock.
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
        state.policy.replace(
          present, by: item, capacity: capacity, now: now, leaving: &leaving)
        replaced = present
      } else {
        state.policy.insert(
          item, capacity: capacity.limited(to: bound), now: now, leaving: &leaving)
      }
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
