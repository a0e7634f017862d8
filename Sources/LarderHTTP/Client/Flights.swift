import Synchronization

/// Requests under way, so that of many that ask the same at once one is sent.
final class Flights: Sendable {
  enum Landing: Sendable {
    /// Look again at what is stored.
    case arrived
    /// What came serves nobody else.
    case ownOnly
    /// Whoever began it has given up; another may begin it anew.
    case abandoned
    /// The origin could not be reached.
    case failed(any Error)
  }

  private let waiting = Mutex<[String: [AsyncStream<Landing>.Continuation]]>([:])

  /// Begins a flight, or joins the one under way: then what it lands with can be waited for.
  func join(_ name: String) -> AsyncStream<Landing>? {
    waiting.withLock { waiting in
      guard waiting[name] != nil else {
        waiting[name] = []
        return nil
      }
      let (stream, continuation) = AsyncStream<Landing>.makeStream()
      waiting[name]?.append(continuation)
      return stream
    }
  }

  /// How many wait for others' requests.
  var joined: Int { waiting.withLock { $0.values.reduce(0) { $0 + $1.count } } }

  /// Ends a flight; to be called once by whoever began it.
  func land(_ name: String, _ landing: Landing) {
    let waiters = waiting.withLock { $0.removeValue(forKey: name) } ?? []
    for waiter in waiters {
      waiter.yield(landing)
      waiter.finish()
    }
  }
}
