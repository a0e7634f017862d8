#if HTTP
  import HTTPTypes
  public import LarderHTTP
  import Synchronization

  #if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
  #else
    public import Foundation
  #endif

  /// Answers the requests of a `URLSession` from an HTTP cache, so that code that uses `URLSession` needs no change.
  ///
  /// Override ``cache`` and name the class in the configuration of the session:
  ///
  ///     final class WeatherProtocol: HTTPCacheURLProtocol {
  ///       override class var cache: HTTPCache? { weatherCache }
  ///     }
  ///
  ///     let configuration = URLSessionConfiguration.default
  ///     configuration.protocolClasses = [WeatherProtocol.self]
  ///     configuration.urlCache = nil
  ///     let session = URLSession(configuration: configuration)
  ///
  /// Each request's `cachePolicy` applies. A `timeoutInterval` applies if it is shorter than the cache's limit. The protocol
  /// follows up to 20 redirections through the cache and asks no delegate about them. The session gets no cookies of responses.
  ///
  /// On Linux, protocols have limits. Additional headers and the cache policy of the configuration have no effect, and a body
  /// arrives in one piece. An upload task fails (use a data task with `httpBody`), and a download task gets no file.
  open class HTTPCacheURLProtocol: URLProtocol {
    /// The cache that answers; nil leaves requests to the next protocol of the session. Default: nil.
    open class var cache: HTTPCache? { nil }

    /// The task that answers the request, until the session stops loading.
    private let loading = Mutex<Task<Void, Never>?>(nil)

    /// Whether the class answers the request: the class has a cache, and the scheme is HTTP or HTTPS.
    override open class func canInit(with request: URLRequest) -> Bool {
      cache != nil && ["http", "https"].contains(request.url?.scheme?.lowercased())
    }

    /// The unchanged request: the cache has its own normal form.
    override open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Begins to answer the request.
    override open func startLoading() {
      let events = SessionEvents(of: self)
      guard let cache = Self.cache else { return events.fail(URLError(.unsupportedURL)) }
      let request = request
      #if canImport(FoundationNetworking)
        // The protocol cannot get the body of an upload task. The request must not be sent without its body, so the task fails.
        if task is URLSessionUploadTask {
          return events.fail(URLError(.requestBodyStreamExhausted))
        }
      #endif
      loading.withLock { $0 = Task { await Self.load(request, from: cache, for: events) } }
    }

    /// Ends the request; the session gets no further events about it.
    override open func stopLoading() { loading.withLock { $0.take() }?.cancel() }

    private static func load(
      _ request: URLRequest, from cache: HTTPCache, for events: SessionEvents
    ) async {
      do {
        let body = try request.body(upTo: HTTPBody.largestUpload)
        var redirections = Redirections(request: request, body: body)
        let (response, answer) = try await redirections.follow(in: cache)
        events.report { $0.urlProtocol($1, didReceive: response, cacheStoragePolicy: .notAllowed) }
        #if canImport(FoundationNetworking)
          // A completion handler would get only the last of several pieces, so the whole body is one piece.
          events.receive(Data(try await answer.bytes()))
        #else
          for try await piece in answer { events.receive(Data(piece)) }
        #endif
        events.report { $0.urlProtocolDidFinishLoading($1) }
      } catch { events.fail(error) }
    }
  }

  /// A request, and the requests that follow from its redirections, as in a browser (RFC 9110, section 15.4).
  private struct Redirections {
    private static let most = 20

    var request: URLRequest
    var body: [UInt8]

    /// The first response that is not a redirection.
    mutating func follow(in cache: HTTPCache) async throws -> (HTTPURLResponse, HTTPBody) {
      let cache = request.limiting(cache)
      var message = try HTTPRequest(request)
      for _ in 0...Self.most {
        let result = try await cache.send(message, body: HTTPBody(body))
        if result.reason == .onlyIfCached { throw URLError(.resourceUnavailable) }
        guard let url = request.url, let response = HTTPURLResponse(result.response, url: url)
        else { throw URLError(.badServerResponse) }
        guard let next = next(after: result.response, from: url) else {
          return (response, result.body)
        }
        message = try redirected(
          message, to: next, from: url, status: response.statusCode, policy: cache.rules.policy)
      }
      throw URLError(.httpTooManyRedirects)
    }

    /// The address of the redirection; nil for another response, or for an address that is not HTTP.
    private func next(after response: HTTPResponse, from url: URL) -> URL? {
      guard [301, 302, 303, 307, 308].contains(response.status.code),
        let location = response.headerFields[.location],
        let next = URL(string: location.withStrictTarget, relativeTo: url)?.absoluteURL,
        ["http", "https"].contains(next.scheme?.lowercased())
      else { return nil }
      return next
    }

    private mutating func redirected(
      _ message: HTTPRequest, to url: URL, from old: URL, status: Int, policy: HTTPCachePolicy
    ) throws -> HTTPRequest {
      let method = message.method
      let becomesGet = status == 303 && method != .head || status < 303 && method == .post
      request.url = url
      var next = message
      try next.setTarget(url)
      if becomesGet {
        next.method = .get
        body = []
        for name in [HTTPField.Name.contentType, .contentLength, .contentEncoding] {
          next.headerFields[name] = nil
        }
      }
      if url.scheme != old.scheme || url.host() != old.host() || url.port != old.port {
        next = policy.withoutCredentials(next)
      }
      return next
    }
  }

  /// Reports the progress of a request to its session, until the task of the request is cancelled.
  ///
  /// The protocol object only identifies the request here; a subclass of `URLProtocol` need not be sendable.
  private struct SessionEvents: @unchecked Sendable {
    private let identity: URLProtocol
    private let client: (any URLProtocolClient)?

    init(of identity: URLProtocol) {
      self.identity = identity
      client = identity.client
    }

    func report(_ event: (any URLProtocolClient, URLProtocol) -> Void) {
      if !Task.isCancelled, let client { event(client, identity) }
    }

    func receive(_ data: Data) { if !data.isEmpty { report { $0.urlProtocol($1, didLoad: data) } } }

    func fail(_ error: any Error) {
      let error =
        if case HTTPCacheError.timedOut = error { URLError(.timedOut) as any Error } else { error }
      report { $0.urlProtocol($1, didFailWithError: error) }
    }
  }
#endif
