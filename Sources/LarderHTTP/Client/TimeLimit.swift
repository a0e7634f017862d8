import Larder
import LarderSystem
import Synchronization

/// Returns the result of `body`, or cancels it after `limit` and throws.
///
/// - Parameter upload: the body of a request that is sent meanwhile: the limit begins again with each piece of it, and does
///   not run while the next piece is awaited from the client.
func within<Value: Sendable>(
  _ limit: Duration, by clock: any LarderClock, upload: UploadProgress? = nil,
  _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  let end = clock.monotonic + limit.bounded
  return try await withThrowingTaskGroup(of: Value?.self) { group in
    defer { group.cancelAll() }
    group.addTask { try await body() }
    group.addTask {
      var end = end
      while true {
        try await clock.sleep(until: end)
        guard let later = upload?.last.map({ $0 + limit }), later > clock.monotonic else {
          return nil
        }
        end = later
      }
    }
    guard let first = try await group.next(), let value = first else {
      throw HTTPCacheError.timedOut(limit)
    }
    return value
  }
}

/// When the body of a request was last read.
final class UploadProgress: Sendable {
  private let clock: any LarderClock
  private let state: Mutex<(isReading: Bool, last: Duration?)> = Mutex((false, nil))

  init(_ clock: any LarderClock) { self.clock = clock }

  func beginRead() { state.withLock { $0.isReading = true } }

  func endRead() {
    let now = clock.monotonic
    state.withLock { $0 = (false, now) }
  }

  /// The time of the last piece; now while a read is under way; nil before the first read.
  var last: Duration? {
    let now = clock.monotonic
    return state.withLock { $0.isReading ? now : $0.last }
  }
}
