import LMDB
import LarderSystem
import Synchronization

/// The decoded values that the caches of a namespace keep in memory.
///
/// What it holds is always right: each value remembers the transaction at which it was last known to be its entry's, and
/// is given unseen only if nothing was committed since, by any process. Otherwise one lookup compares versions first.
///
/// Caches of one store and namespace share it if their codecs are of the same type and alike: of a type without stored
/// properties, or equal. Others have one of their own.
public final class CacheMemory: Sendable {
  static let shardCount = 16

  let namespace: String
  let counters = StripedCounters()
  let budget: MemoryBudget
  private let handle: NamespaceHandle
  // What a hit needs is at hand here: to reach it through the store would cost counting references.
  let environment: Environment
  let clock: any LarderClock
  let usesSystemClock: Bool
  /// Keys fall into other slots in each process, so that nobody can choose keys that fall into one.
  let seed = UInt64.random(in: .min ... .max)
  /// What lookups go through, in parts with a lock each.
  let shards: LockStripes<MemoryTable>
  /// What stays. Whoever changes the shards' tables holds this lock, and takes a shard's lock within it.
  let state: Mutex<State>

  struct State {
    var policy = MemoryPolicy()
    var limits: MemoryLimits
  }

  init(_ handle: NamespaceHandle, limits: MemoryLimits, in engine: StoreEngine) {
    namespace = handle.name
    self.handle = handle
    budget = engine.memory.budget
    environment = engine.environment
    clock = engine.clock
    usesSystemClock = engine.usesSystemClock
    shards = LockStripes(count: Self.shardCount) { MemoryTable() }
    state = Mutex(State(limits: limits))
    handle.memory.withLock { $0.add(counters) }
  }

  deinit {
    let usage = state.withLock { $0.policy.usage }
    budget.giveBack(usage.cost)
    handle.memory.withLock { $0.retire(counters) }
  }

  /// What may be kept. Lowering it drops at once what is too much.
  public var limits: MemoryLimits {
    get { state.withLock { $0.limits } }
    set {
      state.withLock { $0.limits = newValue }
      trim { _ in newValue.capacity }
    }
  }

  public var usage: MemoryUsage { state.withLock { $0.policy.usage } }

  public var statistics: MemoryStatistics {
    let (usage, limits) = state.withLock { ($0.policy.usage, $0.limits) }
    return MemoryStatistics(
      usage: usage, capacity: limits.capacity, counts: MemoryCounts(counters))
  }

  /// Drops values until they cost no more than `cost`: first what is used least.
  public func trim(to cost: Int) {
    trim { _ in MemoryUsage(cost: max(0, cost), entries: .max) }
  }

  /// Drops values until no more than this part of them is left, in number and cost; 0 to 1.
  public func trim(toFraction fraction: Double) {
    trim { usage in usage.scaled(by: fraction) }
  }

  /// Drops all values. The entries stay, and are decoded when they are read next.
  public func removeAll() {
    change { policy, leaving in leaving = policy.removeAll() }
  }

  private func trim(to capacity: (MemoryUsage) -> MemoryUsage) {
    change { policy, leaving in
      policy.trim(to: capacity(policy.usage), leaving: &leaving)
      counters.add(UInt64(leaving.count), to: MemoryCounts.Kind.evictions.rawValue)
    }
  }

  /// Lets so much go for the sake of something newer.
  func giveWay(_ cost: Int) {
    change { policy, leaving in
      let capacity = MemoryUsage(cost: max(0, policy.usage.cost - cost), entries: .max)
      policy.makeRoom(capacity: capacity, now: coarseNow, leaving: &leaving)
      counters.add(UInt64(leaving.count), to: MemoryCounts.Kind.evictions.rawValue)
    }
  }

  /// Takes an item out, unless another has its place by now.
  func remove(_ item: MemoryItem) {
    change { policy, leaving in
      guard item.place != MemoryQueue.end else { return }
      policy.remove(item)
      leaving.append(item)
    }
  }

  /// Changes what is kept. What leaves is let go of when no lock is held: a value's end may run code of its owner.
  private func change(_ body: (inout MemoryPolicy, inout [MemoryItem]) -> Void) {
    var leaving: [MemoryItem] = []
    state.withLock { state in
      body(&state.policy, &leaving)
      forget(leaving)
    }
    budget.giveBack(leaving.reduce(0) { $0 + $1.cost })
  }

  /// Takes items out of the tables; called with the lock of `state`.
  func forget(_ leaving: [MemoryItem]) {
    for item in leaving {
      let isGone = shards.withLock(Self.stripe(of: item.hash)) { $0.remove(item) }
      assert(isGone)
    }
  }
}
