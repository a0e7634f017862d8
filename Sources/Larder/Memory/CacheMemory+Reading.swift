import LMDB
import LarderSystem
import Synchronization

extension CacheMemory {
  @inline(__always)
  func hash(of key: Span<UInt8>) -> UInt64 {
    // 0 marks a free slot.
    max(1, keyHash.hash(of: key))
  }

  @inline(__always)
  static func stripe(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash &>> 60) }

  /// The item under `key` if it is certain without a lookup in the store that it is current and fresh.
  ///
  /// A commit that ended before this call has a number up to `newest`, which is read first. The only lock taken is that of
  /// the key's shard, which makes the counts exact too.
  func current(_ key: Span<UInt8>) -> MemoryItem? { withCurrent(key) { $0 } }

  /// The decoded value of that item; to return the item, too, would take another reference count.
  @usableFromInline
  func currentBox(_ key: Span<UInt8>) -> (any AnyMemoryBox)? { withCurrent(key) { $0.box } }

  @inline(__always)
  private func withCurrent<Part: Sendable>(
    _ key: Span<UInt8>, _ part: (MemoryItem) -> Part
  ) -> Part? {
    let newest = environment.lastTransaction
    // The store is closed, or belongs to another process after a fork: the lookup in the store reports that.
    if newest == 0 { return nil }
    let hash = hash(of: key)
    let stripe = Self.stripe(of: hash)
    return shards.withLock(stripe) { table in
      guard let item = table.find(hash, key), item.isCurrent(at: newest) else { return nil }
      // Most entries do not expire: then no clock is read.
      guard item.neverExpires || isFresh(item) else { return nil }
      item.recordUse(firstRecent: firstRecent.load(ordering: .relaxed))
      counters.count(MemoryCounts.Kind.hits.rawValue, stripe: stripe)
      return part(item)
    }
  }

  @inline(never)
  private func isFresh(_ item: MemoryItem) -> Bool {
    var now = clock.coarseNow
    if clock.isSystem, item.isNearItsEnd(at: now) { now = SystemTime.milliseconds }
    return item.isFresh(at: now)
  }

  /// The item under `key`, to be compared with the store.
  func item(_ key: Span<UInt8>) -> MemoryItem? {
    let hash = hash(of: key)
    return shards.withLock(Self.stripe(of: hash)) { $0.find(hash, key) }
  }

  /// Records that the entry has the item's value in a snapshot, and that a read returned it.
  func confirm(_ item: MemoryItem, _ header: EntryHeader, snapshot: UInt64) {
    let stripe = Self.stripe(of: item.hash)
    shards.withLock(stripe) { _ in
      item.confirm(header, snapshot: snapshot)
      item.recordUse(firstRecent: firstRecent.load(ordering: .relaxed))
      counters.count(MemoryCounts.Kind.revalidatedHits.rawValue, stripe: stripe)
    }
  }

  func countMiss() { counters.count(MemoryCounts.Kind.misses.rawValue) }
}
