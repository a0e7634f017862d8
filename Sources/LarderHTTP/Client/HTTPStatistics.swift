import Synchronization

/// How the requests of a cache were answered, in this process since the cache was made.
///
/// The reads and writes of the store itself are in the statistics of its namespace, for all processes.
public struct HTTPStatistics: Sendable, Hashable {
  /// Answers from the store without a request to the origin, by their reason.
  public var hits: [CacheAnswer.Reason: Int] = [:]
  /// Requests to the origin, by their reason.
  public var forwards: [CacheForward.Reason: Int] = [:]
  /// Of the forwarded ones, those after which a stored response was the answer: confirmed, completed, or stale after a failure.
  public var reuses: [CacheAnswer.Reason: Int] = [:]
  /// Requests that waited for the exchange of another one.
  public var collapsed = 0
  /// Requests that ended with an error.
  public var failures = 0
  /// Bytes of stored bodies in answers, which the origin did not have to send.
  public var bytesSaved = 0

  /// Requests that were answered.
  public var requests: Int { hits.values.reduce(0, +) + forwards.values.reduce(0, +) }
}

/// The counters of a cache and its copies.
final class HTTPCounters: Sendable {
  private let counts = Mutex(HTTPStatistics())

  var statistics: HTTPStatistics { counts.withLock { $0 } }

  func count(_ result: HTTPCacheResult) {
    counts.withLock { counts in
      if let forwarded = result.forwarded {
        counts.forwards[forwarded, default: 0] += 1
        if let reason = result.reason { counts.reuses[reason, default: 0] += 1 }
      } else if let reason = result.reason {
        counts.hits[reason, default: 0] += 1
      }
      if result.isCollapsed { counts.collapsed += 1 }
      if result.reason != nil { counts.bytesSaved += result.body.count ?? 0 }
    }
  }

  func countFailure() { counts.withLock { $0.failures += 1 } }
}
