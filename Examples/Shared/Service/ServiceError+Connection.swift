// For its networking, which knows words for what went wrong.
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension ServiceError {
  /// What an exchange came to that broke off with `error`.
  init(after error: any Error) {
    let words = (error as? URLError)?.localizedDescription ?? "\(error)"
    self = Connection.isMissing(after: error) ? .unreachable(words) : .broken(words)
  }
}

/// Why an exchange with a service broke off.
private enum Connection {
  /// Whether there is no way to the service for now: no network, a connection that is refused or lost, a name that nobody
  /// knows, no answer in time. A certificate that is wrong, say, is another thing: the service is there.
  static func isMissing(after error: any Error) -> Bool {
    guard let error = error as? URLError else { return true }
    return switch error.code {
    // On Linux some refused connections have no code of their own.
    case .unknown: true
    case .notConnectedToInternet, .networkConnectionLost, .timedOut, .cannotFindHost,
      .cannotConnectToHost, .dnsLookupFailed, .internationalRoamingOff, .dataNotAllowed:
      true
    default: false
    }
  }
}
