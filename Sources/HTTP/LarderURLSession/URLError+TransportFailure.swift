#if HTTP
  public import Foundation
  public import LarderHTTP

  extension URLError: TransportFailure {
    /// Whether the code, or on Linux its description, says that no secure connection comes about.
    public var isInsecure: Bool {
      switch code {
      case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
        .clientCertificateRejected, .clientCertificateRequired:
        true
      // On Linux none of them has a code of its own.
      case .unknown: CurlWords.tellOfInsecurity(localizedDescription)
      default: false
      }
    }
  }
#endif
