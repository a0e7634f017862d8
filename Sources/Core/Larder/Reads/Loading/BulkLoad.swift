import Synchronization

/// Loads of several keys by one closure, the source. Each key has a load of its own in the table, so other callers can join
/// that load. One call of the source gets all keys that are ready. A key that another process is loading waits, and joins a
/// later call if the other process stores no value. Only one call runs at a time, so many waiting keys share a call.
final class BulkLoad<Value: Sendable>: Sendable {
  /// The keys that are missing or too old, each with its stored value.
  typealias Missing = [(key: Key, stored: CachedValue<Value>?)]
  typealias InFlight = InFlightLoad<LoadedValue<Value>>

  private typealias Member = (
    load: CacheLoad<Value>, running: InFlight, turn: CacheLoad<Value>.Turn, isRefresh: Bool
  )

  private struct State {
    var waiting: [Member] = []
    /// Whether a call is running. Also true before ``begin()``, so that no call begins while keys are added.
    var isCalling = true
  }

  private let source: @Sendable (Missing) async throws -> [Key: Loaded<Value>]
  private let isNested = LoadDependencies.running != nil
  private let state = Mutex(State())

  init(_ source: @escaping @Sendable (Missing) async throws -> [Key: Loaded<Value>]) {
    self.source = source
  }

  func start(_ load: CacheLoad<Value>, _ running: InFlight, priority: TaskPriority?) {
    // The load of the key waits for this object. So if the source asks for a load of the key, the source gets an error.
    _ = LoadDependencies.add(from: running, to: self)
    do {
      let turn = try load.takeTurn(running, waits: !isNested)
      guard turn.awaited != nil else { return take(load, running, turn, priority) }
      running.start(priority: priority) { [self] in
        do { take(load, running, try await load.awaitTurn(running, after: turn), priority) } catch {
          complete(load, running, .failure(error))
        }
      }
    } catch { complete(load, running, .failure(error)) }
  }

  private func take(
    _ load: CacheLoad<Value>, _ running: InFlight, _ turn: CacheLoad<Value>.Turn,
    _ priority: TaskPriority?
  ) {
    if turn.isAnswered {
      return complete(load, running, .success(LoadedValue(result: load.cache.result(turn.lookup))))
    }
    state.withLock { $0.waiting.append((load, running, turn, priority != nil)) }
    callNext()
  }

  private func complete(
    _ load: CacheLoad<Value>, _ running: InFlight, _ result: Result<LoadedValue<Value>, any Error>
  ) {
    LoadDependencies.remove(from: running, to: self)
    load.complete(running, result)
  }

  /// Lets the next call of the source begin. Before the first call, the caller must have added all keys.
  func begin() {
    state.withLock { $0.isCalling = false }
    callNext()
  }

  private func callNext() {
    let members = state.withLock { state -> [Member] in
      if state.isCalling || state.waiting.isEmpty { return [] }
      defer { state.waiting = [] }
      state.isCalling = true
      return state.waiting
    }
    if members.isEmpty { return }
    let task = Task { [self] in
      await call(members)
      begin()
    }
    // The number of keys whose callers still wait.
    let wanted = Atomic(members.count)
    for member in members {
      member.running.whenAbandoned {
        let left = wanted.subtract(1, ordering: .acquiringAndReleasing).newValue
        if left == 0 { task.cancel() }
      }
    }
  }

  private func call(_ members: [Member]) async {
    let outcomes: Result<[Key: Loaded<Value>], any Error>
    do {
      let cache = members[0].load.cache
      let observed = ObservedLoad(
        namespace: cache.name, keys: members.count > 1 ? members.count : nil,
        isRefresh: members.allSatisfy { $0.isRefresh })
      let answers = try await LoadDependencies.$running.withValue(self) {
        try await cache.namespace.engine.observed(observed) {
          try await source(members.map { (Key($0.load.key), $0.turn.lookup.cachedValue) })
        }
      }
      // A closure may return although its call was cancelled. The values of such a call are not stored.
      try Task.checkCancellation()
      outcomes = .success(answers)
    } catch { outcomes = .failure(error) }
    let results = members.map { member -> Result<LoadedValue<Value>, any Error> in
      Result {
        if member.running.isAbandoned { throw CancellationError() }
        return try member.load.loaded(outcomes.get()[Key(member.load.key)] ?? .absent, member.turn)
      }
    }
    members[0].load.engine.enqueue(results.compactMap { try? $0.get().write })
    for (member, result) in zip(members, results) {
      await member.load.hand(member.turn.lease, to: try? result.get().write)
      complete(member.load, member.running, result)
    }
  }
}
