import Synchronization

final class ManualTimer: Sendable {
  private let waiting = Mutex<[(delay: Duration, body: @Sendable () -> Void)]>([])

  var delays: [Duration] { waiting.withLock { $0.map(\.delay) } }

  @Sendable func start(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    waiting.withLock { $0.append((delay, body)) }
  }

  func runOut() {
    let due = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for timer in due { timer.body() }
  }
}
