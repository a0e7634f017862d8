import HTTPTypes
import Larder

/// The freshness of a stored response at a time (RFC 9111, 4.2).
struct Freshness: Equatable {
  let lifetime: FreshnessLifetime
  /// In seconds.
  let age: Int
  /// Whether the response was received after the clock's time, so that its age is unknown.
  let isFromTheFuture: Bool

  init(of stored: StoredResponse, at now: Timestamp, policy: HTTPCachePolicy) {
    self.init(
      stored.lifetime(policy: policy), age: stored.age, received: stored.received, at: now)
  }

  init(_ lifetime: FreshnessLifetime, age: ResponseAge, received: Timestamp, at now: Timestamp) {
    self.lifetime = lifetime
    self.age = age.seconds(at: now)
    isFromTheFuture = now.advanced(by: .seconds(60)) < received
  }

  var isFresh: Bool { staleness == nil }

  /// The seconds since it became stale; nil while it is fresh. It is stale as soon as its age equals its lifetime.
  var staleness: Int? {
    if isFromTheFuture { return DeltaSeconds.most }
    return age < lifetime.seconds ? nil : age - lifetime.seconds
  }

  /// The remaining seconds of freshness.
  var remaining: Int { isFromTheFuture ? 0 : max(0, lifetime.seconds - age) }

  /// The same, negative for a stale response.
  var left: Int { staleness.map { -$0 } ?? remaining }
}
