// For its networking, which knows words for what went wrong.
import Foundation
import LarderHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension ServiceError {
  /// What an exchange came to that broke off with `error`; nil for what is no fault of the network, and says itself what
  /// it is.
  init?(after error: any Error) {
    switch error {
    case let error as URLError:
      let words = error.localizedDescription
      self = error.isMissingConnection ? .unreachable(words) : .broken(words)
    case let error as HTTPCacheError:
      switch error {
      case .timedOut: self = .unreachable("\(error)")
      }
    default: return nil
    }
  }
}

extension URLError {
  /// Whether there is no way to the service for now: no network, a connection that is refused or lost, a name that nobody
  /// knows, no answer in time. A certificate that is wrong, say, is another thing: the service is there.
  fileprivate var isMissingConnection: Bool {
    switch code {
    // On Linux some refused connections have no code of their own.
    case .unknown: true
    case .notConnectedToInternet, .networkConnectionLost, .timedOut, .cannotFindHost,
      .cannotConnectToHost, .dnsLookupFailed, .internationalRoamingOff, .dataNotAllowed:
      true
    default: false
    }
  }
}
