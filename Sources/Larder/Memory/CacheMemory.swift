import LMDB
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
  /// Keys fall into other slots in each process, so that nobody can choose keys that fall into one.
  let seed = UInt64.random(in: .min ... .max)
  /// What lookups go through; each has a lock of its own.
  let shards: [MemoryShard]
  /// What stays. Whoever changes the shards' tables holds this lock, and takes a shard's lock within it.
  let state: Mutex<State>

  struct State {
    var policy = MemoryPolicy()
    var limits: MemoryLimits
  }

  init(_ handle: NamespaceHandle, limits: MemoryLimits, budget: MemoryBudget) {
    namespace = handle.name
    self.handle = handle
    self.budget = budget
    shards = (0..<Self.shardCount).map { _ in MemoryShard() }
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
      shrink(to: newValue.capacity)
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
    shrink(to: MemoryUsage(cost: max(0, cost), entries: .max))
  }

  /// Drops values until no more than this part of them is left, in number and cost; 0 to 1.
  public func trim(toFraction fraction: Double) {
    shrink { usage in usage.scaled(by: fraction) }
  }

  /// Drops all values. The entries stay, and are decoded when they are read next.
  public func removeAll() {
    change { policy, leaving in leaving = policy.removeAll() }
  }

  func shrink(to capacity: MemoryUsage) {
    shrink { _ in capacity }
  }

  func shrink(to capacity: (MemoryUsage) -> MemoryUsage) {
    change { policy, leaving in
      policy.makeRoom(capacity: capacity(policy.usage), now: .min, leaving: &leaving)
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
      let isGone = shard(of: item.hash).table.withLock { $0.remove(item) }
      assert(isGone)
    }
  }
}
