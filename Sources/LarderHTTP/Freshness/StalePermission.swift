import HTTPTypes
import Larder

/// The permitted uses of a stale response (RFC 9111, 4.2.4; RFC 5861).
struct StalePermission: Hashable, Sendable {
  /// Serve it to a client that accepts stale responses.
  var byRequest: Bool
  /// Serve it while it is revalidated.
  var whileRevalidating: Bool
  /// Serve it in place of a server error.
  var onError: Bool
  /// Serve it if the origin cannot be reached.
  var whenDisconnected: Bool

  static let none = StalePermission(
    byRequest: false, whileRevalidating: false, onError: false, whenDisconnected: false)

  init(
    byRequest: Bool, whileRevalidating: Bool, onError: Bool, whenDisconnected: Bool
  ) {
    self.byRequest = byRequest
    self.whileRevalidating = whileRevalidating
    self.onError = onError
    self.whenDisconnected = whenDisconnected
  }

  init(
    of stored: StoredResponse, freshness: Freshness, for request: RequestDirectives,
    policy: HTTPCachePolicy
  ) {
    let directives = stored.directives(for: policy.kind)
    guard !directives.forbidsStale else {
      self = .none
      return
    }
    let staleness = freshness.staleness ?? 0
    byRequest =
      switch request.maxStale {
      case .no: false
      case .any: true
      case .seconds(let most): staleness <= most
      }
    // A client that demands a newer response waits for it.
    let isOldEnough = request.maxAge.map { freshness.age <= $0 } ?? true
    if !isOldEnough { byRequest = false }
    whileRevalidating =
      !request.noCache && isOldEnough && request.minFresh == 0
      && directives.staleWhileRevalidate > 0 && staleness <= directives.staleWhileRevalidate
    // A request or a response that states 0 forbids it, whatever the other states (RFC 5861, section 4).
    let stated = [directives.staleIfError, request.staleIfError].compactMap { $0 }
    let errorWindow = stated.contains(0) ? 0 : stated.max() ?? 0
    onError = errorWindow > 0 && staleness <= errorWindow
    whenDisconnected =
      !stated.contains(0)
      && (onError || staleness <= policy.whenDisconnected.wholeSeconds)
  }
}
