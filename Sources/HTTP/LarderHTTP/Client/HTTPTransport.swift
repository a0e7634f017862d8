#if HTTP
  public import HTTPTypes
  import Larder

  /// Sends requests to the origin.
  public protocol HTTPTransport: Sendable {
    /// The fields that the transport adds to requests without such fields; default: none. A cache adds the fields before it
    /// decides, because `Authorization` names the user and other fields may select the response. A transport over another
    /// transport has the added fields of that transport.
    var addedFields: HTTPFields { get }

    /// Sends a request and returns the head of its final answer, with a body that has not been read yet.
    ///
    /// A transport follows no redirections, neither caches nor repeats requests, and supports cancellation. Its errors are
    /// ``TransportFailure``s. If a body is cut off, the read after the last piece throws such an error.
    ///
    /// - Parameters:
    ///   - body: the body of the request; read it once, and only as fast as it is sent.
    ///   - interim: receives the responses with a status below 200, in order.
    func send(
      _ request: HTTPRequest, body: HTTPBody,
      interim: @escaping @Sendable (HTTPResponse) async -> Void
    ) async throws -> (HTTPResponse, HTTPBody)
  }

  extension HTTPRequest {
    /// The request without the field `Host`: the authority alone, which is in the key, names the host (RFC 9110, section 7.2).
    fileprivate var withoutHost: HTTPRequest {
      var request = self
      request.headerFields.removeAll([.host])
      return request
    }

    /// The request with those of the fields whose names it lacks.
    package func adding(_ fields: HTTPFields) -> HTTPRequest {
      if fields.isEmpty { return self }
      var request = self
      request.headerFields += fields.filter { $0.name != .host && !headerFields.contains($0.name) }
      return request
    }
  }

  extension HTTPTransport {
    public var addedFields: HTTPFields { [:] }

    /// The response to a request, and the time at which the request was sent. If the origin asks to wait, a GET or HEAD is sent
    /// again after the wait, but after a 503 only if no stored response can be the answer. Throws for an unexpected answer.
    func send(
      _ request: HTTPRequest, body: HTTPBody,
      interim: @escaping @Sendable (HTTPResponse) async -> Void, under policy: HTTPCachePolicy,
      hasSubstitute: Bool = false, by clock: any LarderClock
    ) async throws -> (HTTPResponse, HTTPBody, requested: Timestamp) {
      let request = request.withoutHost
      // The time limit is for the head, and for each piece of the body.
      func sent() async throws -> (HTTPResponse, HTTPBody, requested: Timestamp) {
        let requested = clock.now
        let upload = body.whole == nil ? UploadProgress(clock) : nil
        let observed = upload.map(body.observed) ?? body
        var (response, unlimited): (HTTPResponse, HTTPBody) = try await clock.run(
          within: policy.timeout, { try await send(request, body: observed, interim: interim) },
          else: {
            // The limit starts again with each piece of the request's body that is sent. While the client has not delivered the
            // next piece, the time does not count.
            while let end = upload?.last.map({ $0 + policy.timeout }), end > clock.monotonic {
              try await clock.sleep(until: end)
            }
            throw HTTPCacheError.timedOut(policy.timeout)
          })
        try HTTPCacheError.check(fieldCount: response.headerFields.count)
        // RFC 9112, 6.3: the coding decides where the body ends. If a server passed the stated length on, its client would take
        // the rest of the body for the next response.
        if response.headerFields.contains(.transferEncoding) {
          response.headerFields[.contentLength] = nil
        }
        // A recipient adds the time of arrival to a response without a date (RFC 9110, section 6.6.1).
        if !response.headerFields.contains(.date) {
          response.headerFields[.date] = HTTPDate(clock.now).text
        }
        return (response, unlimited.limited(to: policy.timeout, by: clock), requested)
      }
      var answer = try await sent()
      // A request that may have an effect is never sent twice, so only GET and HEAD wait.
      let isPatient = policy.longestWait > .zero && [.get, .head].contains(request.method)
      if isPatient, body.whole != nil, answer.0.status.code == 429 || !hasSubstitute,
        let wait = answer.0.retryAfter(at: clock.now), wait <= policy.longestWait
      {
        try await clock.sleep(until: clock.monotonic + wait)
        answer = try await sent()
      }
      if let unexpected = policy.unexpected(answer.0, to: request) {
        throw HTTPCacheError.unexpected(unexpected)
      }
      return answer
    }
  }

  /// The errors of the HTTP cache itself. A transport may throw these errors, too.
  public enum HTTPCacheError: TransportFailure, Hashable, Sendable, CustomStringConvertible {
    /// The origin did not answer in time, or its response stopped for too long.
    case timedOut(Duration)
    /// The request or the response has this number of fields, which is more than 1,000.
    case tooManyFields(Int)
    /// A body is longer than this limit, in bytes.
    case bodyTooLarge(limit: Int)
    /// The reader is too slow: the transport cannot hold more unread bytes than this number, and cannot make the origin wait.
    case bodyUnread(limit: Int)
    /// The store has removed the stored response while its body was being read, so the rest of that body is gone.
    case bodyGone
    /// The answer does not meet ``HTTPCacheRule/expectedTypes``; the text says why. The answer is not stored.
    case unexpected(String)

    /// An unexpected answer counts as `offline`, because it may be the login page of a network.
    public var failure: TransportFailureKind {
      switch self {
      case .timedOut, .bodyGone: .interrupted
      case .unexpected: .offline
      case .tooManyFields, .bodyTooLarge, .bodyUnread: .unusable
      }
    }

    /// The most fields of an accepted message. A transport counts them first, because `HTTPFields` traps beyond 65,535 fields.
    public static let largestFieldCount = 1_000

    package static func check(fieldCount: Int) throws(HTTPCacheError) {
      if fieldCount > largestFieldCount { throw tooManyFields(fieldCount) }
    }

    public var description: String {
      switch self {
      case .timedOut(let limit): "the origin sent nothing for \(limit)"
      case .tooManyFields(let count):
        "the message has \(count) fields; at most \(Self.largestFieldCount) are accepted"
      case .bodyTooLarge(let limit): "the body is longer than \(limit) bytes"
      case .bodyUnread(let limit):
        "\(limit) bytes of the body came before they were read; use a transport that makes the origin wait, such as CurlTransport"
      case .bodyGone: "the store has removed the stored response while its body was read"
      case .unexpected(let what):
        "the answer is \(what), which was not expected; the login page of a network may have sent it: log in there, or try again later"
      }
    }
  }

  /// The errors of all transports and of the cache. Each error tells why a request got no usable answer from the origin.
  ///
  ///     catch let failure as any TransportFailure where failure.isOffline { showStored() }
  ///
  /// If an ``HTTPTransport`` throws an error of another type, the origin counts as unreachable. But after a `LarderError` or a
  /// `CancellationError` no stored response is the answer: the call throws that error.
  public protocol TransportFailure: Error {
    /// The kind of the failure.
    var failure: TransportFailureKind { get }
  }

  /// A kind of ``TransportFailure``.
  public enum TransportFailureKind: String, Sendable, Hashable {
    /// The origin cannot be reached: no network, an unknown host, a refused connection, or a network that wants a login first.
    case offline
    /// The exchange ended before the answer was complete: it timed out, the connection was lost, or a stored body is gone.
    case interrupted
    /// The origin was reached, but without a secure connection: an untrusted certificate, no TLS, or one side refused the other.
    case insecure
    /// The answer cannot be used, or the request itself is invalid.
    case unusable
  }

  extension TransportFailure {
    /// Whether the origin could not be reached.
    public var isOffline: Bool { failure == .offline }
    /// Whether the origin was reached, but no secure connection was made.
    public var isInsecure: Bool { failure == .insecure }
    /// Whether an equal request may succeed later.
    public var isRetryable: Bool { failure == .offline || failure == .interrupted }
  }

  /// The descriptions that libcurl gives of failures. On Linux, `URLSession` uses libcurl.
  package enum CurlWords {
    /// Whether the description is about TLS itself, and not about a secure connection that was cut off.
    package static func tellOfInsecurity(_ words: String) -> Bool {
      let words = words.lowercased()
      if ["ssl_read", "ssl_write", "recv error", "send error"].contains(where: words.contains) {
        return words.contains("alert")
          || words.contains("ssl routines") && !words.contains("unexpected eof")
      }
      return ["ssl", "tls", "certificate"].contains(where: words.contains)
    }
  }
#endif
