#if HTTP
  public import Foundation
  public import LarderHTTP

  extension URLError: TransportFailure {
    /// The kind of the failure, by its code, or on Linux sometimes by its description.
    public var failure: TransportFailureKind {
      switch code {
      case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
        .clientCertificateRejected, .clientCertificateRequired:
        .insecure
      case .notConnectedToInternet, .internationalRoamingOff, .dataNotAllowed, .callIsActive,
        .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost:
        .offline
      case .timedOut, .networkConnectionLost: .interrupted
      // On Linux, failures of TLS, some refused connections and bodies that were cut off have no code of their own.
      case .unknown: CurlWords.tellOfInsecurity(localizedDescription) ? .insecure : .interrupted
      default: .unusable
      }
    }
  }
#endif
