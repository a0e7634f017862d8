import LMDB
import Synchronization

/// The memories of a store's caches in this process, those that can be shared kept by name and codec.
final class MemoryRegistry: Sendable {
  let budget = MemoryBudget()

  private struct Place: Hashable {
    var namespace: String
    var codec: ObjectIdentifier
  }

  private struct Shared {
    var codec: any Sendable
    var memory: CacheMemory
  }

  private let shared = Mutex<[Place: [Shared]]>([:])
  /// The snapshot and the generation of the catalogue in which the limit was last looked at.
  private let looked = Mutex((snapshot: UInt64(0), generation: UInt64(0)))

  /// The memory for a cache, and its owner if it cannot be shared; nil if none is wanted.
  ///
  /// - Parameter limits: nil leaves those of a memory that is shared already; a new one has the default's.
  func memory<C: Codec>(
    of codec: C, for handle: NamespaceHandle, limits: MemoryLimits?, in engine: StoreEngine
  ) -> (memory: CacheMemory, owner: MemoryOwner?)? {
    if limits == MemoryLimits.off { return nil }
    guard let isAlike = Self.comparison(with: codec) else {
      let memory = make(handle, limits: limits, in: engine)
      return (memory, MemoryOwner(memory))
    }
    let place = Place(namespace: handle.name, codec: ObjectIdentifier(C.self))
    let (memory, isNew) = shared.withLock { shared in
      if let known = shared[place]?.first(where: { isAlike($0.codec) }) {
        return (known.memory, false)
      }
      let memory = make(handle, limits: limits, in: engine)
      shared[place, default: []].append(Shared(codec: codec, memory: memory))
      return (memory, true)
    }
    if !isNew, let limits, limits != memory.limits { memory.limits = limits }
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

  /// Tells whether another codec reads values as this one does; nil if that cannot be told.
  private static func comparison<C: Codec>(with codec: C) -> ((any Sendable) -> Bool)? {
    if let codec = codec as? any Equatable { return { other in isEqual(codec, other) } }
    return MemoryLayout<C>.size == 0 ? { $0 is C } : nil
  }

  private static func isEqual<T: Equatable>(_ one: T, _ other: any Sendable) -> Bool {
    (other as? T) == one
  }
}

extension MemoryRegistry {
  /// What this process keeps of each namespace.
  var statistics: [String: MemoryStatistics] {
    Dictionary(budget.members.map { ($0.namespace, $0.statistics) }, uniquingKeysWith: +)
  }

  func removeAll() {
    for memory in budget.members { memory.removeAll() }
  }

  /// Lets go of what is no longer current after a namespace was emptied; what is left would only take room.
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
  /// Obeys a limit that another process has set. Asked with each value that is decoded, and answered by a comparison
  /// unless something was committed since.
  func followMemoryLimit(in transaction: borrowing ReadTransaction) {
    guard memory.isNew(transaction.id) else { return }
    do {
      guard memory.isNew(generation: try transaction.state().generation) else { return }
      memory.budget.limit = try settings(in: transaction).memoryLimit
    } catch {
      // A damaged record of the limits is no reason to keep a value from its reader: the limit stays as it is, and whoever
      // writes, or verifies the store, is told.
    }
  }
}
