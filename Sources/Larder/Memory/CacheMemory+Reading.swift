import LMDB
import LarderSystem

extension CacheMemory {
  @inline(__always)
  func hash(of key: Span<UInt8>) -> UInt64 {
    // 0 marks a free slot.
    max(1, Checksum.of(key, seed: seed))
  }

  @inline(__always)
  static func stripe(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash &>> 60) }

  @inline(__always)
  var coarseNow: Int64 {
    usesSystemClock ? SystemTime.coarseMilliseconds : clock.now.milliseconds
  }

  /// The item under `key` if it is certain without a look at the store that it is current and fresh.
  ///
  /// A commit that ended before this was called has a number up to `newest`, which is read first. No other lock is taken
  /// than that of the key's shard, which makes the counts exact too.
  @usableFromInline
  func current(_ key: Span<UInt8>) -> MemoryItem? {
    let newest = environment.lastTransaction
    // The store is closed, or another's after a fork: the plain way says so.
    if newest == 0 { return nil }
    var now = coarseNow
    let hash = hash(of: key)
    let stripe = Self.stripe(of: hash)
    return shards.withLock(stripe) { table in
      guard let item = table.find(hash, key), item.isCurrent(at: newest) else { return nil }
      if usesSystemClock, item.isNearItsEnd(at: now) { now = SystemTime.milliseconds }
      guard item.isFresh(at: now) else { return nil }
      item.noteUse()
      counters.count(MemoryCounts.Kind.hits.rawValue, stripe: stripe)
      return item
    }
  }

  /// The item under `key`, to be compared with the store.
  func item(_ key: Span<UInt8>) -> MemoryItem? {
    let hash = hash(of: key)
    return shards.withLock(Self.stripe(of: hash)) { $0.find(hash, key) }
  }

  /// Notes that the entry has the item's value in a snapshot, and that a read was answered with it.
  func confirm(_ item: MemoryItem, _ header: EntryHeader, snapshot: UInt64) {
    let stripe = Self.stripe(of: item.hash)
    shards.withLock(stripe) { _ in
      item.confirm(header, snapshot: snapshot)
      item.noteUse()
      counters.count(MemoryCounts.Kind.revalidatedHits.rawValue, stripe: stripe)
    }
  }

  func countMiss() { counters.count(MemoryCounts.Kind.misses.rawValue) }
}
