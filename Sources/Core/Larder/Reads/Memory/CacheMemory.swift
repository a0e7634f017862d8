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

  struct State {
    var policy = MemoryPolicy()
    var limits: MemoryLimits
  }

  init(_ handle: NamespaceHandle, limits: MemoryLimits?, in engine: StoreEngine) {
    namespace = ExactString(handle.name)
    self.handle = handle
    budget = engine.memory.budget
    reader = engine.reader
    clock = engine.clock
    shards = LockStripes(count: 16) { MemoryTable() }
    state = Mutex(State(limits: limits ?? .default))
    handle.add(counters)
    budget.add(self)
  }

  deinit {
    let usage = state.withLock { $0.policy.usage }
    budget.release(usage.cost)
    handle.memory.withLock { $0.retire(counters) }
  }

  /// The limits of this memory, in this process. A lower limit removes values before the setter returns.
  public var limits: MemoryLimits {
    get { state.withLock { $0.limits } }
    set {
      state.withLock { $0.limits = newValue }
      trim { _ in newValue.capacity }
    }
  }

  var usage: MemoryUsage { state.withLock { $0.policy.usage } }

  /// The usage, the limits, and the counts of reads and evictions from the creation of this memory on.
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
    change { state in
      if item.place != MemoryQueue.end { _ = state.policy.remove(item.place) }
    }
  }

  /// Changes the kept values. Releases removed values outside the lock, because their deinitializers may run any code.
  func change(isEviction: Bool = false, _ body: (inout State) -> Void) {
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
}
