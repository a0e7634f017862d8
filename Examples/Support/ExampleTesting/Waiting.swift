import Synchronization

/// Suspends tasks until it is opened.
public final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  public init() {}

  public func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  public func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}

/// A list that several tasks extend. `Lines<Duration>` records waits without waiting.
public final class Lines<Line: Sendable>: Sendable {
  private let lines = Mutex<[Line]>([])

  public init() {}
  public var all: [Line] { lines.withLock { $0 } }
  public func add(_ line: Line) { lines.withLock { $0.append(line) } }
}
