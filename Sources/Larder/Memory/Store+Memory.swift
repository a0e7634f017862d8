extension Store {
  /// The usage of memory by the decoded values of all caches of the store in this process, and the outcomes of reads.
  ///
  /// The capacity's cost is the store's limit ``StoreLimits/memory``, which the caches share.
  public var memory: MemoryStatistics {
    let members = engine.memory.budget.members
    var sum = members.reduce(MemoryStatistics()) { $0 + $1.statistics }
    sum.capacity.cost = min(sum.capacity.cost, engine.memory.budget.limit)
    return sum
  }

  /// Drops decoded values of all caches until they cost no more than `cost` together.
  public func trimMemory(to cost: Int) { engine.memory.budget.trim(to: max(0, cost)) }

  /// Drops decoded values until each cache has at most this fraction of its own, in number and cost; 0 to 1.
  ///
  /// Call it when the system warns that memory is low.
  public func trimMemory(toFraction fraction: Double) {
    for memory in engine.memory.budget.members { memory.trim(toFraction: fraction) }
  }
}

extension Store.Namespace {
  /// The usage of memory by the decoded values of all caches of the namespace in this process, and the outcomes of reads.
  public var memory: MemoryStatistics {
    members.reduce(MemoryStatistics()) { $0 + $1.statistics }
  }

  /// Drops decoded values of the namespace until each cache has at most this fraction of its own; 0 to 1.
  public func trimMemory(toFraction fraction: Double) {
    for memory in members { memory.trim(toFraction: fraction) }
  }

  private var members: [CacheMemory] {
    engine.memory.budget.members.filter { $0.namespace == name }
  }
}
