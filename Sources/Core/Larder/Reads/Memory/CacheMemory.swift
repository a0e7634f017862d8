import LMDB
import LarderSystem
import Synchronization

/// The decoded values that the caches of a namespace keep in memory.
///
/// Its values are always current. Each value carries the `ReadTransaction.moment` at which it last matched its entry. A read
/// returns the value without a lookup only if no process has written since; otherwise one lookup compares the versions.
///
/// Caches of one store and namespace share a memory if their codecs have the same type and are interchangeable: the type has no
/// stored properties, or the codecs are equal. Any other cache has its own memory.
public final class CacheMemory: Sendable {
  static let shardCount = 16

  let namespace: ExactString
  let counters = StripedCounters()
  let budget: MemoryBudget
  private let handle: NamespaceHandle
  // A hit reads these properties here: access through the store would cost reference counting.
  let reader: EntryReader
  let clock: StoreClock
  let keyHash = KeyHash()
  let shards: LockStripes<MemoryTable>
  /// The policy and the limits. A change of the shards' tables holds this lock, and inside it the lock of a shard.
  let state: Mutex<State>

  /// The policy's ``MemoryPolicy/firstRecent``, for hits.
  let firstRecent = Atomic<UInt64>(0)
  let owners = Atomic<Int>(0)

  struct State {
    var policy = MemoryPolicy()
    var limits: MemoryLimits
  }

  init(_ handle: NamespaceHandle, limits: MemoryLimits, in engine: StoreEngine) {
    namespace = ExactString(handle.name)
    self.handle = handle
    budget = engine.memory.budget
    reader = engine.reader
    clock = engine.clock
    shards = LockStripes(count: Self.shardCount) { MemoryTable() }
    state = Mutex(State(limits: limits))
    handle.add(counters)
  }

  deinit {
    let usage = state.withLock { $0.policy.usage }
    budget.release(usage.cost)
    handle.memory.withLock { $0.retire(counters) }
  }

  /// The limits of this memory, in this process. A lower limit drops values at once.
  public var limits: MemoryLimits {
    get { state.withLock { $0.limits } }
    set {
      state.withLock { $0.limits = newValue }
      trim { _ in newValue.capacity }
    }
  }

  var usage: MemoryUsage { state.withLock { $0.policy.usage } }

  var isUnused: Bool { owners.load(ordering: .relaxed) == 0 && usage.entries == 0 }

  /// The usage, the limits, and the counts of reads and evictions since this memory was made.
  public var statistics: MemoryStatistics {
    let (usage, limits) = state.withLock { ($0.policy.usage, $0.limits) }
    return MemoryStatistics(
      usage: usage, capacity: limits.capacity, counts: MemoryCounts(counters))
  }

  /// Drops values until they cost at most `cost`: first unused values, then values that the eviction policy selects.
  func trim(to cost: Int) {
    trim { _ in MemoryUsage(cost: max(0, cost), entries: .max) }
  }

  /// Drops values until at most this fraction of them is left, in number and cost; 0 to 1.
  public func trim(toFraction fraction: Double) {
    trim { usage in usage.scaled(by: fraction) }
  }

  func removeAll() {
    change { policy, leaving in leaving = policy.removeAll() }
  }

  private func trim(to capacity: (MemoryUsage) -> MemoryUsage) {
    change { policy, leaving in
      leaving = policy.trim(to: capacity(policy.usage))
      counters.add(UInt64(leaving.count), to: MemoryCounts.Kind.evictions.rawValue)
    }
  }

  /// Evicts values with a total cost of at least `cost`, or all values, to make room in the budget of the store.
  func evict(_ cost: Int) {
    change { policy, leaving in
      let capacity = MemoryUsage(cost: max(0, policy.usage.cost - cost), entries: .max)
      leaving = policy.makeRoom(capacity: capacity, now: clock.coarseNow)
      counters.add(UInt64(leaving.count), to: MemoryCounts.Kind.evictions.rawValue)
    }
  }

  func remove(_ item: MemoryItem) {
    change { policy, leaving in
      guard item.place != MemoryQueue.end else { return }
      leaving = policy.remove(item)
    }
  }

  /// Changes the kept values. Removed values are released outside the lock, because their deinitialisers may run any code.
  private func change(_ body: (inout MemoryPolicy, inout [MemoryItem]) -> Void) {
    var leaving: [MemoryItem] = []
    state.withLock { state in
      body(&state.policy, &leaving)
      forget(leaving)
    }
    budget.release(leaving.reduce(0) { $0 + $1.cost })
  }

  /// Removes items from the tables. The caller holds the lock of `state`.
  func forget(_ leaving: [MemoryItem]) {
    for item in leaving {
      let isGone = shards.withLock(Self.stripe(of: item.hash)) { $0.remove(item) }
      assert(isGone)
    }
  }
}
