import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Why an exchange with a service broke off.
enum Connection {
  /// Whether there is no way to the service for now: no network, a connection that is refused or lost, a name that nobody
  /// knows, no answer in time. A certificate that is wrong, say, is another thing: the service is there.
  static func isMissing(after error: any Error) -> Bool {
    guard let error = error as? URLError else { return true }
    return switch error.code {
    case .notConnectedToInternet, .networkConnectionLost, .timedOut, .cannotFindHost,
      .cannotConnectToHost, .dnsLookupFailed, .internationalRoamingOff, .dataNotAllowed:
      true
    default: false
    }
  }
}
