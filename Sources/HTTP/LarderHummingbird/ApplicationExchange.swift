#if Hummingbird
  import HTTPTypes
  import Hummingbird
  import Larder
  import LarderHTTP
  import NIOCore
  import Synchronization

  /// A client's request, and the application that answers the request if the cache cannot answer.
  final class ApplicationExchange: Sendable {
    /// The exchange of the running task. A transport gets only the request, but the application also needs the context.
    @TaskLocal static var current: ApplicationExchange?

    private let request: Request
    private let respond: @Sendable (Request) async throws -> Response
    /// The body of the request; nil for a request without a body.
    private let received: BodyPieces?
    /// The newest response to the client's own request. A response to a condition or a range of the cache is not for the client.
    private let last = Mutex<(head: HTTPResponse, body: WrittenBody)?>(nil)

    init(_ request: Request, _ respond: @escaping @Sendable (Request) async throws -> Response) {
      self.request = request
      self.respond = respond
      received = request.hasBody ? BodyPieces(request.body) : nil
    }

    var body: HTTPBody {
      guard let received else { return HTTPBody() }
      let length = request.headers[.contentLength].flatMap { Int($0) }.map { max(0, $0) }
      return HTTPBody(count: length, next: { try await received.next() })
    }

    /// Whether the body of the request was read, or the application has responded to the client's own request.
    var isBegun: Bool {
      get async {
        if last.withLock({ $0 != nil }) { return true }
        return await received?.isBegun ?? false
      }
    }

    /// The response to the client's own request. Nil if there is no response, or if the reading of the response's body has begun.
    var unreadResponse: Response? {
      get async {
        guard let (head, body) = last.withLock({ $0 }), let body = await body.take() else {
          return nil
        }
        return Response(status: head.status, headers: head.headerFields, body: body)
      }
    }

    func send(_ head: HTTPRequest, _ body: HTTPBody) async throws -> (HTTPResponse, HTTPBody) {
      var forwarded = Request(head: head, body: request.body)
      // If no field announces a body, the cache key is that of a request without a body. So the application gets an empty body.
      forwarded.body =
        received == nil
        ? RequestBody(buffer: ByteBuffer())
        : RequestBody(asyncSequence: body.map { ByteBuffer(bytes: $0) })
      var response: Response
      do {
        response = try await respond(forwarded)
        if response.body.contentLength == 0 {
          // The empty body is written, too, because other code, such as a middleware, may wait for the end of the body.
          try await response.body.write(DiscardingWriter())
          response = Response(status: response.status, headers: response.headers)
        }
      } catch let error where !(Task.isCancelled && error is CancellationError) {
        throw HandlerFailure(error: error)
      }
      let length = response.headers[.contentLength].flatMap { Int($0) }
      let written = WrittenBody(response.body, length: length)
      if head.headerFields == request.headers { last.withLock { $0 = (response.head, written) } }
      let count = head.method == .head ? 0 : response.body.contentLength
      if count == 0 { return (response.head, HTTPBody()) }
      return (response.head, HTTPBody(count: count, next: { try await written.next() }))
    }
  }

  /// The application as the origin of a cache.
  struct ApplicationTransport: HTTPTransport {
    func send(
      _ request: HTTPRequest, body: HTTPBody,
      interim: @escaping @Sendable (HTTPResponse) async -> Void
    ) async throws -> (HTTPResponse, HTTPBody) {
      guard let exchange = ApplicationExchange.current else {
        throw LarderError(
          .invalidArgument,
          "the cache of a CachedResponder sends no request outside a client's request",
          hint: "send the request to the server, or call respond(to:context:)")
      }
      return try await exchange.send(request, body)
    }
  }

  /// An error of the application, not of the cache. The client gets the error unchanged.
  struct HandlerFailure: TransportFailure {
    let error: any Error
    var failure: TransportFailureKind { .interrupted }
  }

  extension Request {
    /// Whether the request has a body. A GET or HEAD has a body only if fields announce the body.
    fileprivate var hasBody: Bool {
      guard method == .get || method == .head else { return true }
      return headers.contains(.transferEncoding)
        || headers[.contentLength].map { $0 != "0" } ?? false
    }
  }
#endif
