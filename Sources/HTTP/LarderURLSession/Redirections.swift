#if HTTP
  import Foundation
  import HTTPTypes
  import LarderHTTP

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// A request, and the requests that follow from its redirections, as in a browser (RFC 9110, section 15.4).
  struct Redirections {
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
        else {
          throw URLError(.badServerResponse)
        }
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
        let next = URL(string: location, relativeTo: url)?.absoluteURL,
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
#endif
