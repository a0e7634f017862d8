import Synchronization

/// One load of one key, and all who wait for it.
///
/// It goes on for as long as somebody waits or holds it; when the last one gives up it is cancelled.
final class Flight<Outcome: Sendable>: AnyFlight {
  private struct State {
    var next: UInt64 = 0
    /// How many have a place, whether or not they wait yet.
    var places = 0
    var waiting: [UInt64: CheckedContinuation<Outcome, any Error>] = [:]
    /// Gave up before they waited.
    var cancelled: Set<UInt64> = []
    var outcome: Result<Outcome, any Error>?
    var task: Task<Void, Never>?
    var isHeld: Bool
    var isAbandoned = false
  }
  private let state: Mutex<State>

  /// - Parameter isHeld: whether it goes on though nobody waits.
  init(isHeld: Bool) { state = Mutex(State(isHeld: isHeld)) }

  var places: Int { state.withLock { $0.places } }

  /// Begins what ends with ``finish(_:)``.
  func begin(priority: TaskPriority?, _ body: @escaping @Sendable () async -> Void) {
    let task = Task(priority: priority, operation: body)
    let isAbandoned = state.withLock { state in
      state.task = task
      return state.isAbandoned
    }
    if isAbandoned { task.cancel() }
  }

  /// Tells all who wait; the first outcome is the one that counts, and is returned.
  @discardableResult
  func finish(_ outcome: Result<Outcome, any Error>) -> Result<Outcome, any Error> {
    let (waiting, first) = state.withLock { state in
      let first = state.outcome ?? outcome
      state.outcome = first
      defer { state.waiting = [:] }
      return (Array(state.waiting.values), first)
    }
    for continuation in waiting { continuation.resume(with: first) }
    return first
  }

  /// Ends it with an error without waiting for whoever is loading.
  func fail(_ error: any Error) {
    finish(.failure(error))
    state.withLock { $0.task }?.cancel()
  }

  /// A place among those who wait; nil if everybody has given up before.
  func enter() -> UInt64? {
    state.withLock { state in
      if state.isAbandoned { return nil }
      state.next += 1
      state.places += 1
      return state.next
    }
  }

  /// Waits in that place. A task that is cancelled gives it up, which may end the load; `abandon` is then told first.
  func wait(_ place: UInt64, abandon: @escaping @Sendable () -> Void) async throws -> Outcome {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Outcome, any Error>) in
        let outcome = state.withLock { state -> Result<Outcome, any Error>? in
          if state.cancelled.remove(place) != nil { return .failure(CancellationError()) }
          if let outcome = state.outcome { return outcome }
          state.waiting[place] = continuation
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      let (continuation, isLast) = state.withLock { state in
        let continuation = state.waiting.removeValue(forKey: place)
        if continuation == nil { state.cancelled.insert(place) }
        state.places -= 1
        let isLast = state.places == 0 && !state.isHeld && state.outcome == nil
        if isLast { state.isAbandoned = true }
        return (continuation, isLast)
      }
      if isLast {
        abandon()
        state.withLock { $0.task }?.cancel()
      }
      continuation?.resume(throwing: CancellationError())
    }
  }
}
