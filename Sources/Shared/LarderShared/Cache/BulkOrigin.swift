import Larder
import LarderSystem
import Synchronization

/// The end of the way of many keys, each of which passes the tier by itself: those that come to the origin share a call.
///
/// A call waits until every key has come, or passes: it has got its value elsewhere, or waits for another machine. The key that
/// makes the call possible makes it for all. One call runs at a time.
final class BulkOrigin<Name: StoreKey & Sendable, Value: Sendable>: Sendable {
  private struct State {
    /// Keys that may still come to the next call.
    var expected: Set<Key>
    var waiting: [(name: Name, key: Key)] = []
    var isCalling = false
    var answers: [Key: Result<Value, any Error>] = [:]
    var isReady: Bool { expected.isEmpty && !isCalling && !waiting.isEmpty }
  }

  private enum Step {
    case answer(Result<Value, any Error>)
    case call([(name: Name, key: Key)])
    case wait
  }

  private let load: @Sendable ([Name]) async throws -> [(Name, Value)]
  private let state: Mutex<State>
  private let waiters = Waiters<Void>()

  init(_ names: [Name], _ load: @escaping @Sendable ([Name]) async throws -> [(Name, Value)]) {
    self.load = load
    state = Mutex(State(expected: Set(names.map { Key($0) })))
  }

  /// A key is not waited for any longer.
  func pass(_ name: Name) {
    let isReady = state.withLock { state in
      state.expected.remove(Key(name)) != nil && state.isReady
    }
    if isReady { waiters.resume() }
  }

  /// The origin's value of a key that has come.
  func value(of name: Name) async throws -> Value {
    let key = Key(name)
    state.withLock { state in
      state.answers[key] = nil
      state.waiting.append((name, key))
    }
    pass(name)
    while true {
      try Task.checkCancellation()
      let step = state.withLock { state -> Step in
        if let answer = state.answers[key] { return .answer(answer) }
        guard state.isReady else { return .wait }
        defer { state.waiting = [] }
        state.isCalling = true
        return .call(state.waiting)
      }
      switch step {
      case .answer(let answer): return try answer.get()
      case .call(let keys): await call(keys)
      case .wait:
        await waiters.wait(unless: {
          state.withLock { $0.answers[key] != nil || $0.isReady }
        })
      }
    }
  }

  private func call(_ keys: [(name: Name, key: Key)]) async {
    let outcome: Result<[Key: Value], any Error>
    do {
      let values = try await load(keys.map { $0.name })
      outcome = .success(
        Dictionary(values.map { (Key($0.0), $0.1) }, uniquingKeysWith: { _, last in last }))
    } catch {
      outcome = .failure(error)
    }
    state.withLock { state in
      for (_, key) in keys {
        state.answers[key] = outcome.flatMap { values in
          values[key].map { .success($0) }
            ?? .failure(
              LarderError(
                .notStored, "the source has no value under \(key)",
                hint: "ask it for keys that it has"))
        }
      }
      state.isCalling = false
    }
    waiters.resume()
  }
}
