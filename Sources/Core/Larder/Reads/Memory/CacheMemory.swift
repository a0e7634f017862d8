import LarderSystem
import Synchronization

/// The decoded values that the caches of a namespace keep in memory.
///
/// The values are always current. Each value has the `ReadTransaction.moment` of its last match with its entry. If no process
/// has written after this moment, a read returns the value without a lookup. Otherwise one lookup compares the versions.
///
/// Caches of one store and namespace share a memory if their codecs have the same type and are equal. Codecs of a type without
/// stored properties are equal. Any other cache has a memory of its own.
public final class CacheMemory: Sendable {
  let namespace: ExactString
  let counters = StripedCounters()
  let budget: MemoryBudget
  private let handle: NamespaceHandle
  // A hit reads these properties here, because access through the store would need reference counting.
  let reader: EntryReader
  let clock: StoreClock
  let keyHash = KeyHash()
  let shards: LockStripes<MemoryTable>
  /// The policy and the limits. A change of a shard's table takes this lock first, and then the lock of the shard.
  let state: Mutex<State>
  /// A copy of the policy's ``MemoryPolicy/firstRecent``, which hits read without the policy's lock.
  let firstRecent = Atomic<UInt64>(0)
  let owners = Atomic<Int>(0)

  typealias State = (policy: MemoryPolicy, limits: MemoryLimits)

  init(_ handle: NamespaceHandle, limits: MemoryLimits?, in engine: StoreEngine) {
    namespace = ExactString(handle.name)
    self.handle = handle
    budget = engine.memory.budget
    reader = engine.reader
    clock = engine.clock
    shards = LockStripes(count: 16) { MemoryTable() }
    state = Mutex((MemoryPolicy(), limits ?? .default))
    handle.add(counters)
    budget.add(self)
  }

  deinit {
    budget.release(usage.cost)
    handle.retire(counters)
  }

  /// The limits of this memory, in this process. A lower limit removes values before the setter returns.
  public var limits: MemoryLimits {
    get { state.withLock { $0.limits } }
    set {
      change(isEviction: true) { state in
        // The kept values end by the former lifetime.
        let isShorter = newValue.end(from: 0) < state.limits.end(from: 0)
        state.limits = newValue
        state.policy.trim(to: isShorter ? MemoryUsage() : newValue.capacity)
      }
    }
  }

  var usage: MemoryUsage { state.withLock { $0.policy.usage } }

  /// The usage, the limits, and the counts of reads and evictions since the creation of this memory.
  public var statistics: MemoryStatistics {
    let (usage, limits) = state.withLock { ($0.policy.usage, $0.limits) }
    return MemoryStatistics(usage: usage, capacity: limits.capacity, counts: counters.totals)
  }

  func trim(to cost: Int) { trim { _ in MemoryUsage(cost: max(0, cost), entries: .max) } }

  /// Removes values until at most this fraction of the values is left, in number and cost; 0 to 1.
  public func trim(toFraction fraction: Double) { trim { $0.scaled(by: fraction) } }

  func removeAll() { change { $0.policy.removeAll() } }

  /// Removes values until the rest fits: first values that were never used, then victims of the policy.
  private func trim(to capacity: (MemoryUsage) -> MemoryUsage) {
    change(isEviction: true) { state in state.policy.trim(to: capacity(state.policy.usage)) }
  }

  /// Evicts values with a total cost of at least `cost`, or all values, so that another value fits into the store's budget.
  func evict(_ cost: Int) {
    change(isEviction: true) { state in
      let capacity = MemoryUsage(cost: max(0, state.policy.usage.cost - cost), entries: .max)
      state.policy.makeRoom(capacity: capacity, now: clock.coarseNow)
    }
  }

  func remove(_ item: MemoryItem) {
    change { if item.place != MemoryQueue.end { _ = $0.policy.remove(item.place) } }
  }

  /// Changes the kept values. Releases removed values outside the lock, because their deinitializers may run any code.
  private func change(isEviction: Bool = false, _ body: (inout State) -> Void) {
    let leaving = state.withLock { state in
      body(&state)
      let leaving = state.policy.leaving
      state.policy.leaving = []
      for item in leaving {
        let isGone = shards.withLock(Self.stripe(of: item.hash)) { $0.remove(item) }
        assert(isGone)
      }
      return leaving
    }
    if isEviction { counters.count(MemoryCount.evictions.rawValue, by: UInt64(leaving.count)) }
    budget.release(leaving.reduce(0) { $0 + $1.cost })
  }

  @inline(__always)
  func hash(of key: Span<UInt8>) -> UInt64 {
    // The hash 0 marks a free slot, so no key may have the hash 0.
    max(1, keyHash.hash(of: key))
  }

  @inline(__always)
  static func stripe(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash &>> 60) }

  /// The item under `key`, if the item is known to be current and fresh without a lookup in the store. Reads `newest` first, so
  /// the comparison includes every write that ended before this call. The lock of the key's shard also protects the counts.
  @usableFromInline
  func current(_ key: Span<UInt8>) -> MemoryItem? {
    let newest = reader.moment
    // 0 means a closed store or a forked child. The result is nil, so that the caller looks in the store and gets the error.
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
    let (cost, limits) = (max(0, cost), limits)
    let size = MemoryUsage(cost: cost, entries: 1)
    guard limits.capacity.holds(size), let spare = budget.reserve(cost, for: self) else {
      // The new value cannot be kept, so the older value is outdated and must be removed.
      if let item = item(key) { remove(item) }
      return
    }
    let item = MemoryBox(
      value, key: key, hash: hash(of: key), cost: cost, end: limits.end(from: now), stored)
    let stripe = Self.stripe(of: item.hash)
    // The item that is not kept: the older item of the key, or the new item if it is outdated or too large, or ends too late.
    var dropped: MemoryItem? = item
    change(isEviction: true) { state in
      let capacity = state.limits.capacity
      let present = shards.withLock(stripe) { $0.find(item.hash, key) }
      guard capacity.holds(size), item.end <= state.limits.end(from: now),
        present.map({ $0.snapshot <= item.snapshot }) ?? true
      else { return }
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
