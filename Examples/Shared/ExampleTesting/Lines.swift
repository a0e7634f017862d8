import Synchronization

/// A list that grows from several tasks; `Lines<Duration>` records waits without waiting.
public final class Lines<Line: Sendable>: Sendable {
  private let lines = Mutex<[Line]>([])

  public init() {}

  public var all: [Line] { lines.withLock { $0 } }
  public func add(_ line: Line) { lines.withLock { $0.append(line) } }
}
