#if AsyncHTTPClient
  public import AsyncHTTPClient
  public import HTTPTypes
  public import LarderHTTP
  import NIOCore
  import NIOHTTP1
  public import NIOSSL

  /// Sends requests with AsyncHTTPClient, over connections that are kept, and in HTTP/2 if the origin supports it.
  ///
  /// Fields keep their order and repetition. Bodies arrive as fast as the client reads them, and are not decoded.
  /// AsyncHTTPClient does not report interim responses, and replaces invalid UTF-8 in fields.
  public final class AsyncHTTPClientTransport: HTTPTransport {
    private let client: HTTPClient

    /// - Parameter configuration: its redirections, decompression and repeated attempts to connect are always off.
    public init(configuration: HTTPClient.Configuration = HTTPClient.Configuration()) {
      var configuration = configuration
      configuration.redirectConfiguration = .disallow
      configuration.decompression = .disabled
      // Without repeated attempts a failure comes early: a stored response may replace the failed response.
      configuration.connectionPool.retryConnectionEstablishment = false
      client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit {
      // No caller would receive an error of the shutdown.
      client.shutdown { _ in }
    }

    public func send(
      _ request: HTTPRequest, body: HTTPBody,
      interim: @escaping @Sendable (HTTPResponse) async -> Void
    ) async throws -> (HTTPResponse, HTTPBody) {
      let answer = try await client.execute(
        try HTTPClientRequest(request, body: body), deadline: .distantFuture)
      // `HTTPFields` traps beyond a limit of its own, so the fields are counted before the copy.
      try HTTPCacheError.check(fieldCount: answer.headers.count)
      let pieces = Pieces(of: answer.body, by: self)
      return (HTTPResponse(answer), HTTPBody(next: { try await pieces.next() }))
    }
  }

  private actor Pieces {
    /// Keeps the transport until the end of the body, because the end of the transport would end its connections.
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
      guard let url = request.uri else { throw HTTPClientError.invalidURL }
      self.init(url: url)
      method = HTTPMethod(rawValue: request.method.rawValue)
      for field in request.headerFields {
        headers.add(name: field.name.rawName, value: field.value)
      }
      if let bytes = body.whole {
        if !bytes.isEmpty { self.body = .bytes(ByteBuffer(bytes: bytes)) }
      } else {
        let buffers = body.map { ByteBuffer(bytes: $0) }
        self.body = .stream(
          buffers, length: body.count.map { .known(Int64($0)) } ?? .unknown)
      }
    }
  }

  extension NIOSSLError: TransportFailure {
    /// `insecure` if the connection was not secure, `interrupted` if it ended without the closing message of TLS.
    public var failure: TransportFailureKind {
      if case .uncleanShutdown = self { .interrupted } else { .insecure }
    }
  }

  extension NIOSSLExtraError: TransportFailure {
    /// `insecure`: for example, the certificate does not belong to the host.
    public var failure: TransportFailureKind { .insecure }
  }

  extension BoringSSLError: TransportFailure {
    /// `insecure` if TLS itself failed, `interrupted` if only the connection below it failed.
    public var failure: TransportFailureKind {
      if case .sslError = self { .insecure } else { .interrupted }
    }
  }

  extension HTTPClientError: TransportFailure {
    /// `offline` without a connection in time, `interrupted` without a whole answer in time, `unusable` for any other failure.
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
