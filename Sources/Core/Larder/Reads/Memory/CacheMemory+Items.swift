import LarderSystem
import Synchronization

extension CacheMemory {
  @inline(__always)
  func hash(of key: Span<UInt8>) -> UInt64 {
    // The hash 0 marks a free slot, so no key may have the hash 0.
    max(1, keyHash.hash(of: key))
  }

  @inline(__always)
  static func stripe(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash &>> 60) }

  /// The item under `key`, if the item is known to be current and fresh without a lookup in the store. Reads `newest` first, so
  /// the comparison includes every write that ended before this call. The lock of the key's shard also makes the counts exact.
  @usableFromInline
  func current(_ key: Span<UInt8>) -> MemoryItem? {
    let newest = reader.moment
    // The store is closed, or the process is a forked child. Returns nil, so that the lookup in the store throws the error.
    if newest == 0 { return nil }
    let hash = hash(of: key)
    let stripe = Self.stripe(of: hash)
    return shards.withLock(stripe) { table in
      guard let item = table.find(hash, key), item.snapshot >= newest else { return nil }
      // Most entries never expire, so most reads need no clock.
      guard item.neverExpires || isFresh(item) else { return nil }
      item.recordUse(firstRecent: firstRecent.load(ordering: .relaxed))
      counters.count(MemoryCount.hits.rawValue, stripe: stripe)
      return item
    }
  }

  @inline(never)
  private func isFresh(_ item: MemoryItem) -> Bool {
    var now = clock.coarseNow
    if clock.isSystem, item.isNearItsEnd(at: now) { now = SystemTime.milliseconds }
    return item.isFresh(at: now)
  }

  /// The item under `key`, even an outdated item, so that the caller can compare the item with the store.
  func item(_ key: Span<UInt8>) -> MemoryItem? {
    let hash = hash(of: key)
    return shards.withLock(Self.stripe(of: hash)) { $0.find(hash, key) }
  }

  /// Records that the item's value is current in `snapshot`, and that a read returned the value.
  func confirm(_ item: MemoryItem, _ header: EntryHeader, snapshot: UInt64) {
    let stripe = Self.stripe(of: item.hash)
    shards.withLock(stripe) { _ in
      item.confirm(header, snapshot: snapshot)
      item.recordUse(firstRecent: firstRecent.load(ordering: .relaxed))
      counters.count(MemoryCount.revalidatedHits.rawValue, stripe: stripe)
    }
  }

  func countMiss() { counters.count(MemoryCount.misses.rawValue) }

  /// Keeps a value that an entry has in a snapshot. Does not replace a value from a later snapshot.
  func keep<Value: Sendable>(
    _ value: Value, for key: Span<UInt8>, cost: Int, _ stored: Stored, now: Int64
  ) {
    let cost = max(0, cost)
    let limits = limits
    let size = MemoryUsage(cost: cost, entries: 1)
    guard limits.capacity.holds(size), let spare = budget.reserve(cost, for: self) else {
      // The new value cannot be kept, so the older value is outdated and must be removed.
      if let item = item(key) { remove(item) }
      return
    }
    let item = MemoryBox(
      value, key: key, hash: hash(of: key), cost: cost, end: limits.end(from: now), stored)
    let stripe = Self.stripe(of: item.hash)
    // The item that is not kept: the older item of the key, or the new item if the new item is outdated or too large.
    var dropped: MemoryItem? = item
    change(isEviction: true) { state in
      let capacity = state.limits.capacity
      let present = shards.withLock(stripe) { $0.find(item.hash, key) }
      guard capacity.holds(size), present.map({ $0.snapshot <= item.snapshot }) ?? true else {
        return
      }
      if let present {
        state.policy.replace(present, by: item, capacity: capacity, now: now)
      } else {
        // If the caches of the store are full, `spare` is 0, and this memory cannot grow.
        var room = capacity
        room.cost = min(
          room.cost, state.policy.usage.cost.saturatingAdding(cost).saturatingAdding(spare))
        state.policy.insert(item, capacity: room, now: now)
      }
      firstRecent.store(state.policy.firstRecent, ordering: .relaxed)
      shards.withLock(stripe) { $0.put(item) }
      dropped = present
    }
    budget.release(dropped?.cost ?? 0)
  }
}
