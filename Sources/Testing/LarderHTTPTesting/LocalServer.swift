#if HTTPTesting
  import FlyingFox
  import FlyingSocks
  public import Foundation
  import Synchronization

  /// An HTTP server on loopback. A handler of the test answers, and the server records the requests.
  ///
  ///     try await LocalServer.run { server in
  ///       server.become { request in .init(200, ["Cache-Control": "max-age=60"], text: "hello") }
  ///       let answer = try await client.get(server.base + "/a")
  ///       #expect(server.count == 1)
  ///     }
  public final class LocalServer: Sendable {
    /// A received request.
    public struct Received: Sendable {
      /// The method as received, such as `GET`.
      public var method: String
      /// The path with the query, percent-encoded as received.
      public var path: String
      /// The fields, with names in lower case.
      public var fields: [String: String]
      /// The whole body.
      public var body: Data

      /// The decoded value of a parameter of the query.
      public func parameter(_ name: String) -> String? {
        URLComponents(string: path)?.queryItems?.first { $0.name == name }?.value
      }

      /// The path without the query.
      public var bare: String { String(path.prefix { $0 != "?" }) }
    }

    /// An answer of the server.
    public struct Answer: Sendable {
      /// The status code.
      public var status: Int
      /// The fields; the server adds the length.
      public var fields: [String: String]
      /// The whole body.
      public var body: Data

      /// An answer with bytes.
      public init(_ status: Int = 200, _ fields: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.fields = fields
        self.body = body
      }

      /// An answer with text as UTF-8.
      public init(_ status: Int = 200, _ fields: [String: String] = [:], text: String) {
        self.init(status, fields, body: Data(text.utf8))
      }
    }

    /// A closure that makes the answer to a request. If the closure throws, the answer has the status 500.
    public typealias Handler = @Sendable (Received) async throws -> Answer

    private struct State {
      var handler: Handler
      var received: [Received] = []
    }

    private let state = Mutex(State { _ in Answer(404) })
    private let address = Mutex("")

    private init() {}

    /// The address, `http://127.0.0.1:40123`.
    public var base: String { address.withLock { $0 } }
    /// The received requests in their order.
    public var received: [Received] { state.withLock { $0.received } }
    /// The number of received requests.
    public var count: Int { state.withLock { $0.received.count } }

    /// Sets the handler.
    public func become(_ handler: @escaping Handler) { state.withLock { $0.handler = handler } }

    /// Removes the received requests.
    public func forget() { state.withLock { $0.received = [] } }

    /// Runs a server on a free port during `body`. The server answers 404 until it has a handler.
    public static func run<Result: Sendable>(
      _ body: (LocalServer) async throws -> Result
    ) async throws -> Result {
      let server = LocalServer()
      let fox = try HTTPServer(
        address: .inet(ip4: "127.0.0.1", port: 0), timeout: 30,
        pool: PromptPool(pool: HTTPServer.defaultPool()), logger: .disabled)
      await fox.appendRoute("*") { try await server.answer($0) }
      let running = Task { try await fox.run() }
      defer { running.cancel() }
      try await fox.waitUntilListening()
      guard let listening = await fox.listeningAddress, case .ip4(_, let port) = listening else {
        throw CocoaError(.fileReadUnknown)
      }
      server.address.withLock { $0 = "http://127.0.0.1:\(port)" }
      return try await body(server)
    }

    private func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
      var fields: [String: String] = [:]
      for header in request.headers { fields[header.key.rawValue.lowercased()] = header.value }
      let received = Received(
        method: request.method.rawValue, path: request.target.rawValue, fields: fields,
        body: try await request.bodyData)
      let handler = state.withLock { state in
        state.received.append(received)
        return state.handler
      }
      let answer = try await handler(received)
      var headers = HTTPHeaders()
      for (name, value) in answer.fields { headers[HTTPHeader(name)] = value }
      return HTTPResponse(
        statusCode: HTTPStatusCode(answer.status, phrase: ""), headers: headers, body: answer.body)
    }
  }

  /// Lets the system send the body of an answer immediately after the head. Otherwise the system delays the body by 40 ms.
  private struct PromptPool<Pool: AsyncSocketPool>: AsyncSocketPool {
    let pool: Pool

    func prepare() async throws { try await pool.prepare() }
    func run() async throws { try await pool.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
      // Accepted connections inherit the option from the listening socket, so that socket gets the option.
      try socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
      try await pool.suspendSocket(socket, untilReadyFor: events)
    }
  }
#else
  @available(
    *, unavailable,
    message:
      "LarderHTTPTesting needs the trait HTTPTesting: .package(..., traits: [\"HTTPTesting\"])"
  )
  public struct LocalServer {}
#endif
