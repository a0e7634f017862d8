#if Tracing && HTTP
  public import HTTPTypes
  public import LarderHTTP
  public import Tracing

  /// Makes a span of kind `client` around each request of another transport, and passes the span's context to the origin.
  ///
  ///     let cache = HTTPCache(in: store.namespace("http"), over: TracedTransport(URLSessionTransport()))
  ///
  /// A hit sends no request, so it makes no span. The span uses OpenTelemetry's names: `http.request.method`, `url.full`,
  /// `server.address`, `server.port`, `http.response.status_code` and `error.type`. The span ends with the response's body.
  public struct TracedTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let tracer: (any Tracer)?
    private let secrets: Set<String>

    /// - Parameters:
    ///   - tracer: makes the spans. If the value is nil, each request uses the tracer that the program has at that time.
    ///   - secretParameters: names of query parameters, in lower case, whose values become `REDACTED` in `url.full`.
    public init(
      _ transport: any HTTPTransport, tracer: (any Tracer)? = nil,
      secretParameters: Set<String> = HTTPCachePolicy().secretParameters
    ) {
      self.transport = transport
      self.tracer = tracer
      secrets = secretParameters
    }

    public var addedFields: HTTPFields { transport.addedFields }

    public func send(
      _ request: HTTPRequest, body: HTTPBody,
      interim: @escaping @Sendable (HTTPResponse) async -> Void
    ) async throws -> (HTTPResponse, HTTPBody) {
      let span = span(of: request)
      var request = request
      span.tracer.inject(span.context, into: &request.headerFields, using: Fields())
      let (response, answer) = try await span.run { [request] in
        try await transport.send(request, body: body, interim: interim)
      }
      span.set("http.response.status_code", response.status.code)
      if response.status.code >= 400 { span.fail(type: "\(response.status.code)") }
      if answer.whole != nil {
        span.end()
        return (response, answer)
      }
      return (
        response,
        HTTPBody(count: answer.count) {
          do {
            var pieces = answer.makeAsyncIterator()
            let piece = try await pieces.next()
            if piece == nil { span.end() }
            return piece
          } catch {
            span.fail(error)
            throw error
          }
        }
      )
    }

    private static let methods: Set<HTTPRequest.Method> = [
      .get, .head, .post, .put, .delete, .connect, .options, .trace, .patch,
    ]

    private func span(of request: HTTPRequest) -> OpenSpan {
      let isKnown = Self.methods.contains(request.method)
      let method = request.method.rawValue
      let span = OpenSpan(isKnown ? method : "HTTP", .client, by: tracer)
      span.set("http.request.method", isKnown ? method : "_OTHER")
      if !isKnown { span.set("http.request.method_original", method) }
      let target = SpanTarget(request, without: secrets)
      span.set("url.full", target.uri)
      span.set("server.address", target.host)
      if let port = target.port { span.set("server.port", port) }
      return span
    }

    private struct Fields: Injector {
      func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
        if let name = HTTPField.Name(key) { fields[name] = value }
      }
    }
  }

  /// The parts of a request's URI for a span, without credentials.
  struct SpanTarget {
    let uri: String
    let host: String
    let port: Int?

    init(_ request: HTTPRequest, without secrets: Set<String>) {
      let scheme = request.scheme?.lowercased() ?? "https"
      let authority =
        request.authority?.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
      let end = authority.lastIndex(of: ":").flatMap { colon in
        authority[colon...].contains("]") ? nil : colon
      }
      host = String(authority[..<(end ?? authority.endIndex)].filter { !"[]".contains($0) })
      port =
        end.flatMap { Int(authority[authority.index(after: $0)...]) }
        ?? ["http": 80, "https": 443][scheme]
      let path = request.path ?? "/"
      let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
      var shown = parts.first.map(String.init) ?? ""
      if parts.count == 2 {
        shown +=
          "?"
          + parts[1].split(separator: "&", omittingEmptySubsequences: false)
          .map { Self.shown($0, without: secrets) }.joined(separator: "&")
      }
      uri = "\(scheme)://\(authority)\(shown)"
    }

    private static func shown(_ parameter: Substring, without secrets: Set<String>) -> String {
      let name = parameter.prefix { $0 != "=" }
      return secrets.hasParameter(name) && name.endIndex < parameter.endIndex
        ? name + "=REDACTED" : String(parameter)
    }
  }
#else
  @available(
    *, unavailable,
    message:
      "TracedTransport needs the traits Tracing and HTTP: .package(..., traits: [\"Tracing\", \"HTTP\"])"
  )
  public struct TracedTransport {}
#endif
