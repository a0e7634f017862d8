import Synchronization

/// Suspends tasks until a test opens the gate.
public struct Gate: Sendable {
  private let opening: AsyncStream<Void>.Continuation
  private let waiting: Task<Void, Never>

  public init() {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    opening = continuation
    waiting = Task { for await _ in stream {} }
  }

  public func pass() async { await waiting.value }
  public func open() { opening.finish() }
}

/// A list that several tasks extend. `Lines<Duration>` records waits without waiting.
public final class Lines<Line: Sendable>: Sendable {
  private let lines = Mutex<[Line]>([])

  public init() {}
  public var all: [Line] { lines.withLock { $0 } }
  public func add(_ line: Line) { lines.withLock { $0.append(line) } }
}
