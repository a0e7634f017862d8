import HTTPTypes
import Larder

/// What may be done with a response that is not fresh (RFC 9111, 4.2.4; RFC 5861).
struct StalePermission: Hashable, Sendable {
  /// It may be given at once, to a client that asked for no better.
  var byRequest: Bool
  /// It may be given while it is validated.
  var whileRevalidating: Bool
  /// It may be given in the place of a server error.
  var onError: Bool
  /// It may be given if the origin cannot be reached.
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
    let directives = stored.directives
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
    // A client that asks for something newer than this is not served while that is fetched.
    let isOldEnough = request.maxAge.map { freshness.age <= $0 } ?? true
    if !isOldEnough { byRequest = false }
    whileRevalidating =
      !request.noCache && isOldEnough && request.minFresh == 0
      && directives.staleWhileRevalidate > 0 && staleness <= directives.staleWhileRevalidate
    let errorWindow = max(directives.staleIfError, request.staleIfError)
    onError = errorWindow > 0 && staleness <= errorWindow
    whenDisconnected = onError || staleness <= policy.whenDisconnected.components.seconds
  }
}
