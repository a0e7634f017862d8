import LarderCurl
import LarderHTTP
import LarderURLSession

#if AsyncHTTPClient
  import LarderAsyncHTTPClient
#endif

/// The transports of the library, which must all behave alike.
enum Transports: String, CaseIterable, CustomStringConvertible {
  case urlSession = "URLSession"
  case curl
  #if AsyncHTTPClient
    case asyncHTTPClient = "AsyncHTTPClient"
  #endif

  var description: String { rawValue }

  var made: any HTTPTransport {
    switch self {
    case .urlSession: URLSessionTransport()
    case .curl: CurlTransport()
    #if AsyncHTTPClient
      case .asyncHTTPClient: AsyncHTTPClientTransport()
    #endif
    }
  }

  /// Whether fields and bodies arrive exactly as the origin has sent them.
  var isExact: Bool { self != .urlSession }
}
