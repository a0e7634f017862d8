import LarderSystem
import Synchronization

/// Tasks that wait to be woken.
final class Sleepers: Sendable {
  private struct Sleeper {
    var until: Int64
    var continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var next: UInt64 = 0
    var asleep: [UInt64: Sleeper] = [:]
    /// Cancelled before they slept.
    var cancelled: Set<UInt64> = []
  }

  private let state = Mutex(State())
  /// Whether a task may be waiting. If none is, ``wake(at:)`` returns without the lock.
  private let isAwaited = Atomic(false)

  var isEmpty: Bool { state.withLock { $0.asleep.isEmpty } }

  /// Waits for a ``wake(at:)`` at `until` or later; a cancelled task does not wait, or no longer.
  ///
  /// - Parameter isAwake: asked once the task counts as asleep, so that what happens afterwards wakes it.
  func sleep(until: Int64 = .min, unless isAwake: () -> Bool) async {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isAwake = state.withLock { state in
          isAwaited.store(true, ordering: .sequentiallyConsistent)
          if state.cancelled.contains(number) || isAwake() { return true }
          state.asleep[number] = Sleeper(until: until, continuation: continuation)
          return false
        }
        if isAwake { continuation.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { state -> Sleeper? in
        if let sleeper = state.asleep.removeValue(forKey: number) { return sleeper }
        state.cancelled.insert(number)
        return nil
      }
      sleeper?.continuation.resume()
    }
    _ = state.withLock { $0.cancelled.remove(number) }
  }

  /// Wakes all that wait until then.
  func wake(at moment: Int64 = .max) {
    guard isAwaited.load(ordering: .sequentiallyConsistent) else { return }
    let woken = state.withLock { state in
      let woken = state.asleep.filter { $0.value.until <= moment }
      for number in woken.keys { state.asleep[number] = nil }
      if state.asleep.isEmpty { isAwaited.store(false, ordering: .sequentiallyConsistent) }
      return woken
    }
    for sleeper in woken.values { sleeper.continuation.resume() }
  }
}
