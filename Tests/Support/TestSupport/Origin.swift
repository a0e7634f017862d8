import Synchronization

/// A simulated origin of values, which counts its loads. While a test has closed the origin, the loads wait.
package final class Origin: Sendable {
  package struct Refusal: Error, Equatable {
    private let number: Int
    package init(number: Int) { self.number = number }
  }

  private struct State {
    var loads = 0
    var running = 0
    var mostAtOnce = 0
    var isOpen: Bool
    var fails = false
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    var cancelled: Set<Int> = []
  }
  private let state: Mutex<State>
  package init(isOpen: Bool = true) { state = Mutex(State(isOpen: isOpen)) }
  package var loads: Int { state.withLock { $0.loads } }
  package var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }
  /// The number of loads that were cancelled because no caller waited for them any more.
  package var cancelled: Int { state.withLock { $0.cancelled.count } }

  package func close() { state.withLock { $0.isOpen = false } }

  package func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.resume() }
  }

  package func fail(_ fails: Bool = true) { state.withLock { $0.fails = fails } }

  /// Loads once, and returns the number of the load.
  package func load() async throws -> Int {
    let (number, fails) = state.withLock { state in
      state.loads += 1
      state.running += 1
      state.mostAtOnce = max(state.mostAtOnce, state.running)
      return (state.loads, state.fails)
    }
    defer { state.withLock { $0.running -= 1 } }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let shouldContinue = state.withLock { state in
          let shouldContinue = state.isOpen || state.cancelled.contains(number)
          if !shouldContinue { state.waiting[number] = continuation }
          return shouldContinue
        }
        if shouldContinue { continuation.resume() }
      }
    } onCancel: {
      let continuation = state.withLock { state in
        state.cancelled.insert(number)
        return state.waiting.removeValue(forKey: number)
      }
      continuation?.resume()
    }
    try Task.checkCancellation()
    if fails { throw Refusal(number: number) }
    return number
  }

  package func text() async throws -> String { "load \(try await load())" }
  package func waitForLoads(_ count: Int) async throws { try await waitUntil { loads >= count } }
}
