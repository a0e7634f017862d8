#if AsyncHTTPClient
  public import AsyncHTTPClient
  import Foundation
  public import HTTPTypes
  public import LarderHTTP
  public import NIOCore
  public import NIOHTTP1
  public import NIOPosix
  public import NIOSSL

  /// Sends requests with AsyncHTTPClient. Keeps connections for further requests, and uses HTTP/2 if the origin supports it.
  ///
  /// Repeated fields, except `Cookie`, and the order of the fields are kept. A body arrives as fast as its reader takes the
  /// pieces, and is not decoded. AsyncHTTPClient does not report interim responses, and replaces invalid UTF-8 in fields. A request
  /// with user information in its URI is refused.
  public final class AsyncHTTPClientTransport: HTTPTransport {
    private let client: HTTPClient

    /// - Parameter configuration: the settings. Redirections, decompression and repeated attempts to connect are always off.
    public init(configuration: HTTPClient.Configuration = HTTPClient.Configuration()) {
      var configuration = configuration
      configuration.redirectConfiguration = .disallow
      configuration.decompression = .disabled
      // After a failure the cache can answer with a stored response. Repeated attempts would only delay this answer.
      configuration.connectionPool.retryConnectionEstablishment = false
      // On macOS the default event loops use Network.framework, whose errors are no `TransportFailure`s.
      let group = MultiThreadedEventLoopGroup.singleton
      client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
    }

    deinit {
      // A `deinit` has no caller that could receive the error, so an error of the shutdown is ignored.
      client.shutdown { _ in }
    }

    public func send(
      _ request: HTTPRequest, body: HTTPBody,
      interim: @escaping @Sendable (HTTPResponse) async -> Void
    ) async throws -> (HTTPResponse, HTTPBody) {
      let answer = try await client.execute(
        try HTTPClientRequest(request, body: body), deadline: .distantFuture)
      // `HTTPResponse` traps at a status above 999, which an origin can send by HTTP/2, and `HTTPFields` traps at more than 65,535
      // fields. So both are checked before they are copied.
      guard answer.status.code < 1_000 else { throw HTTPParserError.invalidStatus }
      try HTTPCacheError.check(fieldCount: answer.headers.count)
      let pieces = Pieces(of: answer.body, by: self)
      return (HTTPResponse(answer), HTTPBody(next: { try await pieces.next() }))
    }
  }

  private actor Pieces {
    /// Keeps the transport alive until the body ends, because the `deinit` of the transport closes the connection of the body.
    private let transport: AsyncHTTPClientTransport
    private var iterator: HTTPClientResponse.Body.AsyncIterator

    init(of body: HTTPClientResponse.Body, by transport: AsyncHTTPClientTransport) {
      self.transport = transport
      iterator = body.makeAsyncIterator()
    }

    func next() async throws -> [UInt8]? {
      var iterator = iterator
      let piece = try await iterator.next(isolation: self)
      self.iterator = iterator
      return piece.map { Array($0.readableBytesView) }
    }
  }

  extension HTTPClientRequest {
    fileprivate init(_ request: HTTPRequest, body: HTTPBody) throws {
      // AsyncHTTPClient would omit the user information of the URI, so the request would be that of no user.
      guard let url = request.strictURI, request.authority?.contains("@") != true else {
        throw HTTPClientError.invalidURL
      }
      self.init(url: url)
      method = HTTPMethod(rawValue: request.method.rawValue)
      for field in request.headerFields.withOneCookie {
        headers.add(name: field.name.rawName, value: field.value)
      }
      if let bytes = body.whole {
        if !bytes.isEmpty { self.body = .bytes(ByteBuffer(bytes: bytes)) }
      } else {
        let buffers = body.map { ByteBuffer(bytes: $0) }
        self.body = .stream(buffers, length: body.count.map { .known(Int64($0)) } ?? .unknown)
      }
    }
  }

  extension NIOSSLError: TransportFailure {
    /// `interrupted` if the connection ended without the closing message of TLS, `insecure` for all other errors.
    public var failure: TransportFailureKind {
      if case .uncleanShutdown = self { .interrupted } else { .insecure }
    }
  }

  extension NIOSSLExtraError: TransportFailure {
    /// `insecure`: for example, the certificate does not belong to the host.
    public var failure: TransportFailureKind { .insecure }
  }

  extension BoringSSLError: TransportFailure {
    /// `insecure` if TLS itself failed, `interrupted` if only the connection that carries TLS failed.
    public var failure: TransportFailureKind {
      if case .sslError = self { .insecure } else { .interrupted }
    }
  }

  extension HTTPClientError: TransportFailure {
    /// `offline` if no connection came in time, `interrupted` if no whole answer came in time, `unusable` for other failures.
    public var failure: TransportFailureKind {
      switch self {
      case .connectTimeout, .getConnectionFromPoolTimeout: .offline
      case .readTimeout, .writeTimeout, .deadlineExceeded, .remoteConnectionClosed,
        .tlsHandshakeTimeout:
        .interrupted
      default: .unusable
      }
    }
  }

  extension NIOConnectionError: TransportFailure {
    /// `offline`: the host is unknown, or none of its addresses accepts a connection.
    public var failure: TransportFailureKind { .offline }
  }

  extension IOError: TransportFailure {
    /// `offline` if the host cannot be reached or refuses the connection, `interrupted` for other failures of a connection.
    public var failure: TransportFailureKind {
      [ECONNREFUSED, EHOSTUNREACH, ENETDOWN, ENETUNREACH].contains(errnoCode)
        ? .offline : .interrupted
    }
  }

  extension ChannelError: TransportFailure {
    /// `interrupted`: the connection has ended.
    public var failure: TransportFailureKind { .interrupted }
  }

  extension HTTPParserError: TransportFailure {
    /// `interrupted` if the connection ended within the answer, `unusable` for a malformed answer.
    public var failure: TransportFailureKind {
      if case .invalidEOFState = self { .interrupted } else { .unusable }
    }
  }

  extension HTTPResponse {
    fileprivate init(_ answer: HTTPClientResponse) {
      self.init(
        status: .init(code: Int(answer.status.code), reasonPhrase: answer.status.reasonPhrase))
      for (name, value) in answer.headers {
        guard let name = HTTPField.Name(name) else { continue }
        headerFields.append(HTTPField(name: name, lenientValue: Array(value.utf8)))
      }
    }
  }
#else
  @available(
    *, unavailable,
    message:
      "LarderAsyncHTTPClient needs the trait AsyncHTTPClient: .package(..., traits: [\"AsyncHTTPClient\"])"
  )
  public struct AsyncHTTPClientTransport {}
#endif
