import LMDB
import Synchronization

/// The memories of a store's caches in this process; those that caches can share are found by namespace and codec.
final class MemoryRegistry: Sendable {
  let budget = MemoryBudget()
  /// How short the system is of memory; nil if the memory tier does not trim itself.
  let pressure: (@Sendable () -> MemoryPressure)?
  /// When the pressure was last looked at, by the store's clock.
  let pressureChecked = Atomic<Int64>(0)

  private struct Place: Hashable {
    var namespace: String
    var codec: ObjectIdentifier
  }

  private struct Shared {
    var codec: any Sendable
    var memory: CacheMemory
    /// The limits that caches have asked for. Each counts once, so that two caches with different limits do not go on
    /// replacing each other's.
    var asked: [MemoryLimits]
  }

  private let shared = Mutex<[Place: [Shared]]>([:])
  /// The snapshot and the generation of the metadata in which the limit was last read.
  private let looked = Mutex((snapshot: UInt64(0), generation: UInt64(0)))

  init(pressure: (@Sendable () -> MemoryPressure)?) { self.pressure = pressure }

  /// The memory for a cache, and its owner if it cannot be shared; nil for limits of 0.
  ///
  /// - Parameter limits: nil leaves those of a memory that exists, and so do limits that were asked for before; a new memory
  ///   then has the default limits.
  func memory<C: Codec>(
    of codec: C, for handle: NamespaceHandle, limits: MemoryLimits?, in engine: StoreEngine
  ) -> (memory: CacheMemory, owner: MemoryOwner?)? {
    if limits == MemoryLimits.off { return nil }
    guard let isAlike = Self.comparison(with: codec) else {
      let memory = make(handle, limits: limits, in: engine)
      return (memory, MemoryOwner(memory))
    }
    let place = Place(namespace: handle.name, codec: ObjectIdentifier(C.self))
    let (memory, isChanged) = shared.withLock { shared in
      if let index = shared[place]?.firstIndex(where: { isAlike($0.codec) }),
        let known = shared[place]?[index]
      {
        guard let limits, !known.asked.contains(limits) else { return (known.memory, false) }
        shared[place]?[index].asked.append(limits)
        return (known.memory, true)
      }
      let memory = make(handle, limits: limits, in: engine)
      shared[place, default: []].append(
        Shared(codec: codec, memory: memory, asked: limits.map { [$0] } ?? []))
      return (memory, false)
    }
    if isChanged, let limits { memory.limits = limits }
    return (memory, nil)
  }

  func isNew(_ snapshot: UInt64) -> Bool {
    looked.withLock { looked in
      if snapshot <= looked.snapshot { return false }
      looked.snapshot = snapshot
      return true
    }
  }

  func isNew(generation: UInt64) -> Bool {
    looked.withLock { looked in
      if generation <= looked.generation { return false }
      looked.generation = generation
      return true
    }
  }

  private func make(
    _ handle: NamespaceHandle, limits: MemoryLimits?, in engine: StoreEngine
  ) -> CacheMemory {
    let memory = CacheMemory(handle, limits: limits ?? .default, in: engine)
    budget.add(memory)
    return memory
  }

  /// A test whether another codec reads values in the same way; nil for a codec that cannot be compared.
  private static func comparison<C: Codec>(with codec: C) -> ((any Sendable) -> Bool)? {
    if let codec = codec as? any Equatable { return { other in isEqual(codec, other) } }
    return MemoryLayout<C>.size == 0 ? { $0 is C } : nil
  }

  private static func isEqual<T: Equatable>(_ one: T, _ other: any Sendable) -> Bool {
    (other as? T) == one
  }
}

extension MemoryRegistry {
  /// The usage and the counts of each namespace in this process.
  var statistics: [String: MemoryStatistics] {
    Dictionary(budget.members.map { ($0.namespace, $0.statistics) }, uniquingKeysWith: +)
  }

  func removeAll() {
    for memory in budget.members { memory.removeAll() }
  }

  /// Drops the values of a namespace that was cleared: they are not current, and only take room.
  func removeAll(of namespace: String) {
    for memory in budget.members where memory.namespace == namespace { memory.removeAll() }
  }
}

extension StoreSettings {
  /// The limit of ``StoreLimits/memory`` that holds.
  var memoryLimit: Int {
    limits.memory ?? (overrides.memory == Limits.unlimited ? .max : MemoryBudget.defaultLimit)
  }
}

extension StoreEngine {
  /// Applies a limit that another process has set. Called for each decoded value; without a commit since the last call it
  /// costs one comparison.
  func followMemoryLimit(in transaction: borrowing ReadTransaction) {
    guard memory.isNew(transaction.id) else { return }
    do {
      guard let generation = try transaction.state(seal)?.generation,
        memory.isNew(generation: generation)
      else { return }
      memory.budget.limit = try settings(in: transaction).memoryLimit
    } catch {
      // A damaged record of the limits must not fail a read: the limit stays as it is, and the next write or `verify` reports
      // the damage.
    }
  }
}
