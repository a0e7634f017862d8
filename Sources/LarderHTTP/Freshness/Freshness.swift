import HTTPTypes
import Larder

/// Where a stored response stands at a moment (RFC 9111, 4.2).
struct Freshness: Equatable {
  let lifetime: FreshnessLifetime
  /// In seconds.
  let age: Int
  /// Whether the clock says that the response has not come yet, so that its age is unknown.
  let isFromTheFuture: Bool

  init(of stored: StoredResponse, at now: Timestamp, policy: HTTPCachePolicy) {
    lifetime = FreshnessLifetime(stored.response, received: stored.received, policy: policy)
    age = stored.age.seconds(at: now)
    isFromTheFuture = now.advanced(by: .seconds(60)) < stored.received
  }

  var isFresh: Bool { staleness == nil }

  /// For how many seconds it has been stale; nil while it is fresh. It is stale from the second on that its age reaches
  /// its lifetime.
  var staleness: Int? {
    if isFromTheFuture { return DeltaSeconds.most }
    return age < lifetime.seconds ? nil : age - lifetime.seconds
  }

  /// For how many seconds it will still be fresh.
  var remaining: Int { isFromTheFuture ? 0 : max(0, lifetime.seconds - age) }

  /// The same, and below zero by as many as it has been stale.
  var left: Int { staleness.map { -$0 } ?? remaining }
}
