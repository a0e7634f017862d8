import LarderSystem
import Synchronization

/// The keys of a prefetch, handed out one after the other to its workers.
final class PrefetchQueue<Key: Sendable>: Sendable {
  private struct State {
    var next = 0
    var summary = Prefetch<Key>.Summary()
    var done = 0
  }
  private let keys: [Key]
  private let state = Mutex(State())
  private let report: @Sendable (Prefetch<Key>.Step) -> Void

  init(_ keys: [Key], _ report: @escaping @Sendable (Prefetch<Key>.Step) -> Void) {
    self.keys = keys
    self.report = report
  }

  /// The next key; nil at the end and once the task is cancelled.
  func next() -> Key? {
    if Task.isCancelled { return nil }
    return state.withLock { state in
      guard state.next < keys.count else { return nil }
      state.next += 1
      return keys[state.next - 1]
    }
  }

  var hasNext: Bool { state.withLock { $0.next < keys.count } }

  /// Records an outcome and returns how many keys are done.
  func finish(_ key: Key, _ outcome: Prefetch<Key>.Step.Outcome) -> Int {
    // Reported under the lock, so that the steps come in the order of their numbers.
    state.withLock { state in
      state.done += 1
      switch outcome {
      case .present: state.summary.present += 1
      case .loaded: state.summary.loaded += 1
      case .failed: state.summary.failed += 1
      }
      report(
        Prefetch.Step(key: key, outcome: outcome, done: state.done, total: keys.count))
      return state.done
    }
  }

  var summary: Prefetch<Key>.Summary {
    state.withLock { state in
      var summary = state.summary
      summary.remaining = keys.count - state.done
      return summary
    }
  }
}
