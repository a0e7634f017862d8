import Synchronization

/// The origin of all machines, which counts its requests. Each change of a key gives the key a higher number.
public final class Origin: Sendable {
  private struct State {
    var values: [Int: Int] = [:]
    var requests = 0
  }
  private let state = Mutex(State())

  /// An origin in which every key has the number 1.
  public init() {}

  /// The number of requested values.
  public var requests: Int { state.withLock { $0.requests } }

  func load(_ key: Int) -> Int {
    state.withLock { state in
      state.requests += 1
      return state.values[key] ?? 1
    }
  }

  func change(_ key: Int) -> Int {
    state.withLock { state in
      let next = (state.values[key] ?? 1) + 1
      state.values[key] = next
      return next
    }
  }
}
