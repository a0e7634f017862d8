extension Store {
  /// What the decoded values of all caches of the store take in this process, and what reads found there.
  ///
  /// The capacity's cost is the store's limit ``StoreLimits/memory``, which they share.
  public var memory: MemoryStatistics {
    let members = engine.memory.budget.members
    var sum = members.reduce(MemoryStatistics()) { $0 + $1.statistics }
    sum.capacity.cost = min(sum.capacity.cost, engine.memory.budget.limit)
    return sum
  }

  /// Drops decoded values of all caches until they cost no more than `cost` together.
  public func trimMemory(to cost: Int) { engine.memory.budget.trim(to: max(0, cost)) }

  /// Drops decoded values until of each cache's no more than this part is left, in number and cost; 0 to 1.
  ///
  /// Call it when the system says that memory is short.
  public func trimMemory(toFraction fraction: Double) {
    for memory in engine.memory.budget.members { memory.trim(toFraction: fraction) }
  }
}

extension Store.Namespace {
  /// What the decoded values of all caches of the namespace take in this process, and what reads found there.
  public var memory: MemoryStatistics {
    members.reduce(MemoryStatistics()) { $0 + $1.statistics }
  }

  /// Drops decoded values of the namespace until no more than this part of each cache's is left; 0 to 1.
  public func trimMemory(toFraction fraction: Double) {
    for memory in members { memory.trim(toFraction: fraction) }
  }

  private var members: [CacheMemory] {
    engine.memory.budget.members.filter { $0.namespace == name }
  }
}
