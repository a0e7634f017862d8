import Larder
import LarderSystem
import Synchronization

/// Loads with one call all keys for which the tier has no value. The tier is asked for each key separately.
///
/// A call waits for every key. A key either joins the call or does not need it: the key got its value elsewhere, or another
/// machine loads the key. When this is known for all keys, the last of the keys starts the call. One call runs at a time.
final class BulkOrigin<Name: StoreKey & Sendable, Value: Sendable>: Sendable {
  typealias Missing = [(key: Name, stored: CachedValue<Value>?)]
  typealias Source = @Sendable (Missing) async throws -> [(Name, Loaded<Value>)]

  private struct State {
    /// Keys for which it is not known yet whether they join the next call.
    var expected: Set<Key>
    var waiting: Missing = []
    var isCalling = false
    var answers: [Key: Result<Loaded<Value>, any Error>] = [:]
    var isReady: Bool { expected.isEmpty && !isCalling && !waiting.isEmpty }
  }

  private let load: Source
  private let state: Mutex<State>
  private let waiters = Waiters<Void>()

  init(_ names: [Name], _ load: @escaping Source) {
    self.load = load
    state = Mutex(State(expected: Set(names.map { Key($0) })))
  }

  /// Notes that a key will not join a call, so that no call waits for the key.
  func pass(_ name: Name) {
    let isReady = state.withLock { state in state.expected.remove(Key(name)) != nil && state.isReady
    }
    if isReady { waiters.resume() }
  }

  /// The origin's answer about a key, which joins the next call.
  func answer(about name: Name, _ stored: CachedValue<Value>?) async throws -> Loaded<Value> {
    let key = Key(name)
    state.withLock { state in
      state.answers[key] = nil
      state.waiting.append((name, stored))
    }
    pass(name)
    while true {
      try Task.checkCancellation()
      let (answer, missing) = state.withLock {
        state -> (Result<Loaded<Value>, any Error>?, Missing) in
        let answer = state.answers[key]
        guard answer == nil, state.isReady else { return (answer, Missing()) }
        defer { state.waiting = [] }
        state.isCalling = true
        return (nil, state.waiting)
      }
      if let answer { return try answer.get() }
      if missing.isEmpty {
        await waiters.wait(unless: { state.withLock { $0.answers[key] != nil || $0.isReady } })
      } else {
        await call(missing)
      }
    }
  }

  private func call(_ missing: Missing) async {
    let outcome: Result<[Key: Loaded<Value>], any Error>
    do {
      let answers = try await load(missing)
      outcome = .success(
        Dictionary(answers.map { (Key($0.0), $0.1) }, uniquingKeysWith: { _, last in last }))
    } catch { outcome = .failure(error) }
    state.withLock { state in
      for key in missing.map({ Key($0.key) }) {
        state.answers[key] = outcome.map { $0[key] ?? .absent }
      }
      state.isCalling = false
    }
    waiters.resume()
  }
}
