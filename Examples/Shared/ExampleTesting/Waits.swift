import Synchronization

/// Records the waits that a service asked for, without waiting.
public final class Waits: Sendable {
  private let waits = Mutex<[Duration]>([])

  public init() {}

  public var all: [Duration] { waits.withLock { $0 } }
  public func add(_ wait: Duration) { waits.withLock { $0.append(wait) } }
}
