import LMDB
import LarderSystem
import Synchronization

/// The memories of a store's caches in this process. Caches with one namespace and equal codecs share a memory.
final class MemoryRegistry: Sendable {
  let budget = MemoryBudget()
  /// Tells how scarce memory is. Nil if the memory tier never drops values for this reason.
  private let pressure: (@Sendable () -> MemoryPressure)?
  private let pressureChecked = Atomic<Int64>(0)
  /// The time of the last trim, and the level at the last look.
  private let trimmed = Mutex<(time: Int64, level: MemoryPressure)>((0, .normal))
  /// The shortest time in milliseconds between two checks of the pressure.
  private static let pressureInterval: Int64 = 1000

  private struct Shared {
    var type: ObjectIdentifier
    var codec: any Sendable
    var memory: CacheMemory
    /// The limits that caches have asked for. Equal limits are applied once, so two caches do not replace each other's limits.
    var asked: [MemoryLimits]
  }

  private struct State {
    static let fewest = 64
    /// From this number of memories on, unused memories are released with their values, because each memory needs some kilobytes.
    static let crowd = 8192

    var shared: [ExactString: [Shared]] = [:]
    /// At this number of memories, the unused memories are released. The limit then becomes twice the remaining number.
    var most = fewest
  }

  private let state = Mutex(State())
  /// The newest snapshot, and the newest generation of the metadata, in which a read has checked for a changed limit.
  fileprivate let snapshot = Atomic<UInt64>(0)
  fileprivate let generation = Atomic<UInt64>(0)

  init(pressure: (@Sendable () -> MemoryPressure)?) { self.pressure = pressure }

  /// The memory for a cache; nil for ``MemoryLimits/off``, and in a forked child, where the lock may be locked for ever. If
  /// `limits` is nil, or if a cache has already asked for the same limits, the limits of the memory do not change.
  func memory<C: Codec>(
    of codec: C, for handle: NamespaceHandle, limits: MemoryLimits?, in engine: StoreEngine
  ) -> MemoryOwner? {
    if limits == MemoryLimits.off || engine.environment.isForked { return nil }
    guard let isAlike = Self.comparison(with: codec) else {
      return MemoryOwner(CacheMemory(handle, limits: limits, in: engine), isShared: false)
    }
    let (name, type) = (ExactString(handle.name), ObjectIdentifier(C.self))
    // Releases unused memories only after the lock is released, because deinitializers of codecs and values may run any code.
    let (owner, isChanged, unused) = state.withLock { state -> (MemoryOwner, Bool, [Shared]) in
      let index = state.shared[name]?.firstIndex { $0.type == type && isAlike($0.codec) }
      if let index, let known = state.shared[name]?[index] {
        let owner = MemoryOwner(known.memory, isShared: true)
        guard let limits, !known.asked.contains(limits) else { return (owner, false, []) }
        state.shared[name]?[index].asked.append(limits)
        return (owner, true, [])
      }
      let unused = budget.members.count >= state.most ? removeUnused(&state) : []
      let memory = CacheMemory(handle, limits: limits, in: engine)
      state.shared[name, default: []].append(
        Shared(type: type, codec: codec, memory: memory, asked: limits.map { [$0] } ?? []))
      return (MemoryOwner(memory, isShared: true), false, unused)
    }
    for shared in unused { shared.memory.removeAll() }
    if isChanged, let limits { owner.memory.limits = limits }
    return owner
  }

  /// Removes unused memories; O(memories). A memory gets an owner only under the same lock, so an unused memory stays unused.
  private func removeUnused(_ state: inout State) -> [Shared] {
    let isCrowded = budget.members.count >= State.crowd
    let unused = state.shared.values.joined().filter {
      $0.memory.owners.load(ordering: .relaxed) == 0 && (isCrowded || $0.memory.usage.entries == 0)
    }
    let names = Set(unused.map { ObjectIdentifier($0.memory) })
    state.shared = state.shared.compactMapValues { shared in
      let used = shared.filter { !names.contains(ObjectIdentifier($0.memory)) }
      return used.isEmpty ? nil : used
    }
    budget.remove { names.contains(ObjectIdentifier($0)) }
    state.most = max(2 * budget.members.count, State.fewest)
    return unused
  }

  /// A function that tells whether another codec decodes values in the same way; nil if the codec cannot be compared.
  private static func comparison<C: Codec>(with codec: C) -> ((any Sendable) -> Bool)? {
    func isEqual<T: Equatable>(_ one: T, _ other: any Sendable) -> Bool { (other as? T) == one }
    if let codec = codec as? any Equatable { return { other in isEqual(codec, other) } }
    return MemoryLayout<C>.size == 0 ? { $0 is C } : nil
  }

  var statistics: [ExactString: MemoryStatistics] {
    Dictionary(budget.members.map { ($0.namespace, $0.statistics) }, uniquingKeysWith: +)
  }

  /// Drops the values of the meant namespaces. The values of a cleared namespace are outdated and only use memory.
  func removeAll(where isMeant: (ExactString) -> Bool = { _ in true }) {
    for memory in budget.members where isMeant(memory.namespace) { memory.removeAll() }
  }

  /// Called before a value is kept. Drops decoded values if memory is scarce. Checks immediately if the clock was set back.
  func trimUnderPressure(at now: Int64) {
    guard let pressure else { return }
    let last = pressureChecked.load(ordering: .relaxed)
    guard now &- last >= Self.pressureInterval || now < last,
      pressureChecked.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
    else { return }
    let level = pressure()
    // Stalls are averages of ten seconds, and malloc keeps freed pages. So a level that stays shows no effect of a trim yet.
    let isDue = trimmed.withLock { last in
      let isDue = level > last.level || now < last.time || now &- last.time >= 10_000
      last = (isDue ? now : last.time, level)
      return isDue
    }
    guard isDue, let fraction = level.keptFraction else { return }
    for memory in budget.members { memory.trim(toFraction: fraction) }
  }
}

extension StoreEngine {
  /// Applies a limit that another process has set. If no commit came after the last call, only compares two numbers.
  func followMemoryLimit(in transaction: borrowing ReadTransaction) {
    // A damaged record must not make a read fail, so the limit stays. The next write or `verify` reports the damage.
    guard transaction.id > memory.snapshot.load(ordering: .relaxed),
      memory.snapshot.max(transaction.id, ordering: .relaxed).oldValue < transaction.id,
      let generation = try? transaction.state(seal)?.generation,
      memory.generation.max(generation, ordering: .relaxed).oldValue < generation,
      let settings = try? metadata.settings(in: transaction)
    else { return }
    memory.budget.limit = settings.memoryLimit ?? .max
  }
}
