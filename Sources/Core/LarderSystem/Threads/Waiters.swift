import Synchronization

/// Tasks that wait until they are resumed or cancelled.
///
/// The owner of this object keeps the condition for which the tasks wait. `wait` marks the task as waiting before it checks the
/// condition. So an owner that changes the condition before it resumes the tasks resumes every waiting task.
package final class Waiters<Outcome: Sendable>: Sendable {
  private struct Waiter {
    var until: Int64
    var continuation: CheckedContinuation<Outcome?, Never>
  }

  private struct State {
    var next: UInt64 = 0
    var waiting: [UInt64: Waiter] = [:]
    /// No waiting task has a lower number.
    var first: UInt64 = 0
    /// The numbers of the tasks that were cancelled before they waited.
    var cancelled: Set<UInt64> = []
  }

  private let state = Mutex(State())
  /// Whether a task may be waiting. If false, no task waits, and ``resume(with:at:)`` needs no lock.
  private let isAwaited = Atomic(false)

  package init() {}

  package var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }

  /// Waits until the task is resumed, and returns the outcome; nil if the task was cancelled.
  ///
  /// - Parameters:
  ///   - until: a ``resume(with:at:)`` resumes this task only with this moment or a later moment.
  ///   - outcome: called under the lock of this object; if the result is not nil, the task does not wait.
  ///   - onCancel: called when the task is cancelled, before a waiting task resumes.
  package func wait(
    until: Int64 = .min, unless outcome: () -> Outcome?, onCancel: @Sendable () -> Void = {}
  ) async -> Outcome? {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Outcome?? in
          isAwaited.store(true, ordering: .sequentiallyConsistent)
          if state.cancelled.contains(number) { return .some(nil) }
          if let outcome = outcome() { return outcome }
          state.first = state.waiting.isEmpty ? number : min(state.first, number)
          state.waiting[number] = Waiter(until: until, continuation: continuation)
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> Waiter? in
        if let waiter = state.waiting.removeValue(forKey: number) { return waiter }
        state.cancelled.insert(number)
        return nil
      }
      onCancel()
      waiter?.continuation.resume(returning: nil)
    }
    _ = state.withLock { $0.cancelled.remove(number) }
    return result
  }

  /// Resumes the tasks whose `until` is at most `moment`.
  package func resume(with outcome: Outcome, at moment: Int64 = .max) {
    guard isAwaited.load(ordering: .sequentiallyConsistent) else { return }
    let resumed = state.withLock { state in
      let resumed = state.waiting.filter { $0.value.until <= moment }
      for number in resumed.keys { state.waiting[number] = nil }
      if state.waiting.isEmpty { isAwaited.store(false, ordering: .sequentiallyConsistent) }
      return resumed
    }
    for waiter in resumed.values { waiter.continuation.resume(returning: outcome) }
  }

  /// Resumes the task that has waited longest. If no task waits, calls `otherwise` under the lock of this object.
  package func resumeFirst(with outcome: Outcome, otherwise: () -> Void) {
    let first = state.withLock { state -> Waiter? in
      if state.waiting.isEmpty {
        otherwise()
        return nil
      }
      while state.waiting[state.first] == nil { state.first += 1 }
      return state.waiting.removeValue(forKey: state.first)
    }
    first?.continuation.resume(returning: outcome)
  }
}

extension Waiters<Void> {
  package func wait(until: Int64 = .min, unless isOver: () -> Bool) async {
    _ = await wait(until: until, unless: { isOver() ? () : nil })
  }

  package func resume(at moment: Int64 = .max) { resume(with: (), at: moment) }
}

/// A number of places for tasks. A task waits until a place is free, in the order of the calls.
package final class Places: Sendable {
  /// The number of free places. Only code under the lock of the waiters changes this number.
  private let free: Atomic<Int>
  private let waiters = Waiters<Void>()

  package init(_ most: Int) { free = Atomic(most) }

  package var areTaken: Bool { free.load(ordering: .relaxed) <= 0 }

  /// Waits for a place and takes it. Returns false if the task is cancelled: it then has no place.
  package func take() async -> Bool {
    await waiters.wait(unless: { () -> Void? in
      if areTaken { return nil }
      free.subtract(1, ordering: .relaxed)
      return ()
    }) != nil
  }

  package func release() { waiters.resumeFirst(with: ()) { free.add(1, ordering: .relaxed) } }
}
