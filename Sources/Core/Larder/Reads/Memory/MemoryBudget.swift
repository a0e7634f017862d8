import LMDB
import Synchronization

/// The limit on the total cost of all decoded values of a store in this process. A value is kept only after its cost was
/// reserved, so the sum never exceeds the limit. If the budget is full, one cache evicts values: the growing cache if it has at
/// least an equal share, otherwise the largest cache. So a scan of one cache evicts only values of caches above an equal share.
final class MemoryBudget: Sendable {
  static let defaultLimit = 64_000_000

  private struct State {
    var limit = MemoryBudget.defaultLimit
    var used = 0
    /// Strong references, because weak references to an object make its reference counting, and so each hit, slower.
    var members: [CacheMemory] = []
  }

  private let state = Mutex(State())

  var used: Int { state.withLock { $0.used } }

  /// The limit. A lower limit evicts values before the setter returns.
  var limit: Int {
    get { state.withLock { $0.limit } }
    set {
      state.withLock { $0.limit = max(0, newValue) }
      while true {
        let excess = used - newValue
        guard excess > 0, let largest = members.max(by: { $0.usage.cost < $1.usage.cost }),
          case let cost = largest.usage.cost, cost > 0
        else { return }
        largest.trim(to: max(0, cost - excess))
      }
    }
  }

  func add(_ memory: CacheMemory) { state.withLock { $0.members.append(memory) } }

  func remove(where isGone: (CacheMemory) -> Bool) {
    state.withLock { $0.members.removeAll(where: isGone) }
  }

  var members: [CacheMemory] { state.withLock { $0.members } }

  /// Reserves `cost` for a value of `memory`. Returns the cost that is left in the budget, or nil if the value does not fit.
  func reserve(_ cost: Int, for memory: CacheMemory) -> Int? {
    while true {
      let left = state.withLock { state -> Int? in
        if cost > state.limit { return nil }
        let left = state.limit - state.used - cost
        if left >= 0 { state.used += cost }
        return left
      }
      guard let left else { return nil }
      if left >= 0 { return left }
      let holders = members.map { (memory: $0, cost: $0.usage.cost) }.filter { $0.cost > 0 }
      guard let largest = holders.max(by: { $0.cost < $1.cost }) else { return nil }
      let mine = holders.first { $0.memory === memory }?.cost ?? 0
      let isLarge = mine > 0 && mine >= limit / holders.count
      (isLarge ? memory : largest.memory).evict(-left)
    }
  }

  func release(_ cost: Int) { if cost != 0 { state.withLock { $0.used -= cost } } }
}

/// Counts the caches that use a memory. If no other cache can share the memory, the last owner removes the memory.
final class MemoryOwner: Sendable {
  let memory: CacheMemory
  private let isShared: Bool

  init(_ memory: CacheMemory, isShared: Bool) {
    self.memory = memory
    self.isShared = isShared
    memory.owners.add(1, ordering: .relaxed)
  }

  deinit {
    memory.owners.subtract(1, ordering: .relaxed)
    // In a forked child the lock may be locked for ever.
    if isShared || memory.reader.environment.isForked { return }
    memory.budget.remove { $0 === memory }
    memory.removeAll()
  }
}
