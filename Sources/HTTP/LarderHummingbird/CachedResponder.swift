#if Hummingbird
  public import Hummingbird
  public import Larder
  public import LarderHTTP

  /// Answers requests through an `HTTPCache` whose origin is the application: any other responder.
  ///
  ///     let responder = CachedResponder(router.buildResponder(), in: store.namespace("responses"))
  ///     let app = Application(responder: responder)
  ///
  /// The fields of a response, such as `Cache-Control: max-age=60`, say how long the response is stored. All processes that
  /// have the store open share the stored responses. Of several equal requests of GET or HEAD at the same time, one request
  /// reaches the application and its middlewares.
  ///
  /// The client gets a body while the application writes it, the store at its end. If the store fails, the application answers.
  public struct CachedResponder<Responder: HTTPResponder>: HTTPResponder
  where Responder.Context: Sendable {
    /// The context type of the application.
    public typealias Context = Responder.Context

    /// The cache, for invalidations and statistics, but not for requests: only ``respond(to:context:)`` can ask the application.
    public let cache: HTTPCache
    private let application: Responder
    private let report: @Sendable (any Error) -> Void

    /// - Parameters:
    ///   - application: answers the requests that the cache cannot answer.
    ///   - namespace: holds the responses.
    ///   - report: receives the errors of the store, and errors of the application that no client gets, for example during a
    ///     refresh in the background.
    public init(
      _ application: Responder, in namespace: Store.Namespace,
      policy: HTTPCachePolicy = .application,
      report: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
      let report: @Sendable (any Error) -> Void = { report(($0 as? HandlerFailure)?.error ?? $0) }
      self.application = application
      self.report = report
      cache = HTTPCache(in: namespace, over: ApplicationTransport(), policy: policy, report: report)
    }

    /// The response of the cache or of the application; a 504 after the time limit. Throws the error of the application.
    public func respond(to request: Request, context: Context) async throws -> Response {
      // A request without a host, by HTTP/1.0 or with an absolute URI, has no key in the cache, so the application answers.
      guard request.head.uri != nil else {
        return try await application.respond(to: request, context: context)
      }
      let exchange = ApplicationExchange(request) { [application] request in
        try await application.respond(to: request, context: context)
      }
      do {
        let result = try await ApplicationExchange.$current.withValue(exchange) {
          try await cache.send(request.head, body: exchange.body)
        }
        // A response that is not stored is passed on unchanged, without a task between the application and the client.
        if result.reason == nil, !result.isStored, !result.isBeingStored,
          let response = await exchange.unreadResponse
        {
          return response
        }
        return Response(
          status: result.response.status, headers: result.response.headerFields,
          body: ResponseBody(result.body))
      } catch let failure as HandlerFailure { throw failure.error } catch HTTPCacheError.timedOut {
        return Response(status: .gatewayTimeout)
      } catch let error where !(error is CancellationError) {
        report(error)
        if let response = await exchange.unreadResponse { return response }
        guard await !exchange.isBegun else { throw error }
        return try await application.respond(to: request, context: context)
      }
    }
  }

  extension HTTPCachePolicy {
    /// A policy for an application as the origin: shared, with an hour for the head and for each piece of a response. Only the
    /// application decides how long a response is fresh, and when it may be served stale.
    public static var application: HTTPCachePolicy {
      HTTPCachePolicy(
        kind: .shared, whenDisconnected: .zero, longestHeuristic: .zero, timeout: .seconds(3600))
    }
  }
#else
  @available(
    *, unavailable,
    message:
      "LarderHummingbird needs the trait Hummingbird: .package(..., traits: [\"Hummingbird\"])"
  )
  public struct CachedResponder {}
#endif
