import LarderSystem
import Synchronization

/// A load of a value of any type, in the table of a ``SingleFlight``.
protocol AnyInFlightLoad: AnyObject, Sendable {
  /// The number of callers that wait for the load or are about to wait.
  var callers: Int { get }
  /// Whether the load has an outcome, so that its callers need not wait.
  var isComplete: Bool { get }
}

/// One load of one key and its callers. If the last caller leaves a load that is not detached, the load is cancelled.
package final class InFlightLoad<Outcome: Sendable>: AnyInFlightLoad {
  private struct State {
    var callers = 0
    var outcome: Result<Outcome, any Error>?
    var cancels: [@Sendable () -> Void] = []
    var isDetached: Bool
    var isAbandoned = false
    var began: (mark: RemovalTable.Mark, time: Duration)?
  }
  private let state: Mutex<State>
  private let waiters = Waiters<Result<Outcome, any Error>>()

  /// - Parameter isDetached: whether the load continues if no caller waits.
  init(isDetached: Bool) { state = Mutex(State(isDetached: isDetached)) }

  var callers: Int { state.withLock { $0.callers } }

  /// The outcome of a load that has succeeded; nil while the load runs, and after a failure.
  var value: Outcome? { try? state.withLock { $0.outcome }?.get() }

  var isComplete: Bool { state.withLock { $0.outcome != nil } }
  var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

  /// The state of the removal table and the time before the load last looked its key up; nil before the first lookup.
  var began: (mark: RemovalTable.Mark, time: Duration)? { state.withLock { $0.began } }

  /// Records the state of the removal table with which the load begins, and returns this state.
  func begin(at time: Duration, _ moment: () -> RemovalTable.Mark) -> RemovalTable.Mark {
    state.withLock { state in
      let moment = moment()
      state.began = (moment, time)
      return moment
    }
  }

  /// Starts the task of the load. The task ends with ``complete(_:)``.
  func start(priority: TaskPriority?, _ body: @escaping @Sendable () async -> Void) {
    let task = Task(priority: priority, operation: body)
    whenAbandoned { task.cancel() }
  }

  /// Calls `cancel` when every caller has left, or immediately if all callers have left already. Keeps earlier closures, because
  /// the task of the load may call this function before ``start(priority:_:)`` does.
  func whenAbandoned(_ cancel: @escaping @Sendable () -> Void) {
    let isAbandoned = state.withLock { state in
      if state.outcome == nil, !state.isAbandoned { state.cancels.append(cancel) }
      return state.isAbandoned
    }
    if isAbandoned { cancel() }
  }

  func complete(_ outcome: Result<Outcome, any Error>) {
    state.withLock { ($0.outcome, $0.cancels) = (outcome, []) }
    waiters.resume(with: outcome)
  }

  /// Adds a caller, which must then wait or leave. Returns false if all callers have left, because then the load is cancelled.
  func join() -> Bool {
    state.withLock { state in
      if state.isAbandoned { return false }
      state.callers += 1
      return true
    }
  }

  /// Waits for the outcome, after ``join()``. A cancelled task leaves the load. The last task calls `abandon` and cancels.
  func wait(abandon: @escaping @Sendable () -> Void) async throws -> Outcome {
    let outcome = await waiters.wait(
      unless: { state.withLock { $0.outcome } }, onCancel: { leave(abandon: abandon) })
    guard let outcome else { throw CancellationError() }
    return try outcome.get()
  }

  /// Waits for a load that another task runs; see ``wait(abandon:)``.
  package func outcome() async throws -> Outcome { try await wait {} }

  func leave(abandon: () -> Void) {
    let isLast = state.withLock { state in
      state.callers -= 1
      state.isAbandoned = state.callers == 0 && !state.isDetached && state.outcome == nil
      return state.isAbandoned
    }
    if isLast {
      abandon()
      for cancel in state.withLock({ $0.cancels }) { cancel() }
    }
  }
}

struct LoadCycle: Error {}

/// Records which loads of this process wait for which other loads. A wait that closes a cycle would never end, so this wait
/// fails. Records only loads inside closures of loads. Does not see a wait through a detached task or through another process.
enum LoadDependencies {
  typealias Load = any AnyObject & Sendable

  /// The ``InFlightLoad`` or ``BulkLoad`` that runs the current task's closure.
  @TaskLocal static var running: Load?

  /// For each load, how many times it waits for each other load. A load may wait for thousands of loads.
  private static let waits = Mutex<[ObjectIdentifier: [ObjectIdentifier: Int]]>([:])

  /// Records that `load` waits for `other`. Records nothing and returns false if `other` is `load`, or waits for `load` directly
  /// or through other loads. If `isRecorded` is false, the call only tells whether `load` may wait.
  static func add(from load: Load, to other: Load, isRecorded: Bool = true) -> Bool {
    let (load, other) = (ObjectIdentifier(load), ObjectIdentifier(other))
    return waits.withLock { waits in
      var pending = [other]
      var seen: Set<ObjectIdentifier> = []
      while let next = pending.popLast() {
        if next == load { return false }
        if seen.insert(next).inserted { pending += (waits[next] ?? [:]).keys }
      }
      if isRecorded { waits[load, default: [:]][other, default: 0] += 1 }
      return true
    }
  }

  static func remove(from load: Load, to other: Load) {
    let (load, other) = (ObjectIdentifier(load), ObjectIdentifier(other))
    waits.withLock { waits in
      guard let count = waits[load]?[other] else { return }
      waits[load]?[other] = count > 1 ? count - 1 : nil
      if waits[load]?.isEmpty == true { waits[load] = nil }
    }
  }
}
