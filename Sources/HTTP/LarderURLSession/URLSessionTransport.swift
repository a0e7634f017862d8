#if HTTP
  public import Foundation
  public import HTTPTypes
  public import LarderHTTP

  #if canImport(FoundationNetworking)
    public import FoundationNetworking
  #endif

  /// Sends requests with `URLSession`, without its cache, its cookies and its redirections.
  ///
  /// `URLSession` decodes bodies, joins and reorders fields, and reports no interim responses. `URLSession` reads a body as
  /// fast as the origin sends it, even if nobody takes the bytes: a body with over 64 MB unread ends with
  /// `HTTPCacheError.bodyUnread`. For large bodies use `CurlTransport` of the module `LarderCurl`, or
  /// `AsyncHTTPClientTransport`. The body of a request is read into memory first, at most 64 MB.
  ///
  /// On Linux a response with cut-off header fields ends the process, because of a fault of `URLSession` that nothing can
  /// catch. If that must not happen, use `CurlTransport` of the module `LarderCurl`.
  ///
  /// On Linux `URLSession` does not report that a compressed body was cut off. So on Linux a request without `Accept-Encoding`
  /// asks for a plain body, unless the configuration has the field. A request with an effect gets its own connection.
  public final class URLSessionTransport: HTTPTransport {
    private let session: URLSession
    private let exchanges = SessionExchanges()
    public let addedFields: HTTPFields

    /// A transport with a session of its own. The session keeps no cache and no cookies.
    public init(configuration: URLSessionConfiguration = .ephemeral) {
      let configuration = configuration.copy() as? URLSessionConfiguration ?? configuration
      // The session would add these fields after the cache has chosen a stored response.
      addedFields = HTTPFields(foundation: configuration.httpAdditionalHeaders ?? [:])
      configuration.httpAdditionalHeaders = nil
      configuration.urlCache = nil
      // A request to the origin must not go through a cache again, so the protocols that ask a cache are removed.
      configuration.protocolClasses = configuration.protocolClasses?.filter {
        !($0 is HTTPCacheURLProtocol.Type)
      }
      configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
      configuration.httpCookieStorage = nil
      configuration.httpShouldSetCookies = false
      session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    public func send(
      _ request: HTTPRequest, body: HTTPBody,
      interim: @escaping @Sendable (HTTPResponse) async -> Void
    ) async throws -> (HTTPResponse, HTTPBody) {
      let bytes = try await body.bytes(upTo: HTTPBody.largestUpload)
      let request = request.adding(addedFields)
      let asksForPlain = asksForPlain(request)
      let message = try URLRequest(request, body: bytes, isPlain: asksForPlain)
      let isSafe = [.get, .head, .options, .trace].contains(request.method)
      let arrivals = begin(message, hasEffect: !bytes.isEmpty || !isSafe)
      guard case .head(let answer) = try await arrivals.next() else {
        throw URLError(.badServerResponse)
      }
      let hasBody = request.method != .head && ![204, 304].contains(answer.statusCode)
      // The release of the body ends the task, whether or not the body was read. But a task without a body ends by itself, and a
      // cancellation could end its connection, which can be used again.
      let reader = hasBody ? EndedOnRelease(arrivals, end: { $0.finish(CancellationError()) }) : nil
      guard answer.statusCode < 1_000 else { throw URLError(.badServerResponse) }
      if asksForPlain, hasBody, answer.isCoded, !answer.hasKnownEnd {
        throw URLError(.cannotDecodeRawData)
      }
      try HTTPCacheError.check(fieldCount: answer.allHeaderFields.count)
      let pieces = HTTPBody(next: { try await (reader?.resource ?? arrivals).nextPiece() })
      return (HTTPResponse(answer), pieces)
    }

    /// Starts a task. On Linux, `URLSession` repeats any request if a kept connection ends without an answer. `URLSession`
    /// repeats a request with a body only after the time limit. On a new connection no request is repeated.
    private func begin(_ request: URLRequest, hasEffect: Bool) -> Arrivals {
      #if canImport(FoundationNetworking)
        if hasEffect {
          let exchanges = SessionExchanges()
          let session = URLSession(
            configuration: self.session.configuration, delegate: exchanges, delegateQueue: nil)
          defer { session.finishTasksAndInvalidate() }
          return exchanges.begin(session.dataTask(with: request))
        }
      #endif
      return exchanges.begin(session.dataTask(with: request))
    }

    /// Whether the answer must have no content coding, because the request chooses none.
    private func asksForPlain(_ request: HTTPRequest) -> Bool {
      #if canImport(FoundationNetworking)
        return !request.headerFields.contains(.acceptEncoding)
      #else
        return false
      #endif
    }
  }

  extension URLError: TransportFailure {
    /// The kind of the failure by its code. On Linux the code may be unknown, and then the description decides.
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
      // On Linux, failures of TLS, some refused connections and cut-off bodies have this code, so the description decides.
      case .unknown: CurlWords.tellOfInsecurity(localizedDescription) ? .insecure : .interrupted
      default: .unusable
      }
    }
  }
#else
  @available(
    *, unavailable,
    message: "LarderURLSession needs the trait HTTP: .package(..., traits: [\"HTTP\"])"
  )
  public struct URLSessionTransport {}
#endif
