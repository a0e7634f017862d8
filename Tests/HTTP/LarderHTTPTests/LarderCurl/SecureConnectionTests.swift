#if Curl && HTTPTesting
  import HTTPTypes
  import Larder
  import LarderCurl
  import LarderHTTP
  import LarderHTTPTesting
  import LarderURLSession
  import Testing

  /// Origins that accept a connection but fail in the handshake of TLS.
  @Suite struct SecureConnectionTests {
    /// The answer of a server to the first message of TLS.
    enum Handshake: CaseIterable {
      /// A server that does not speak TLS.
      case plain
      /// A fatal alert: the client and the server have no cipher in common.
      case alert

      var bytes: [UInt8] {
        switch self {
        case .plain: Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)
        case .alert: [0x15, 3, 1, 0, 2, 2, 40]
        }
      }
    }

    private static let transports: [any HTTPTransport] = [CurlTransport(), URLSessionTransport()]

    /// The answer of a cache that has a stale response and asks the server over this transport.
    private static func answer(
      over transport: any HTTPTransport, from authority: String, _ control: String = "max-age=1"
    ) async throws -> HTTPCacheResult {
      let clock = ManualClock()
      let store = try Store.temporary(options: Store.Options(clock: clock))
      let cache = HTTPCache(in: store.namespace("http"), over: transport)
      let request = HTTPRequest(method: .get, scheme: "https", authority: authority, path: "/a")
      let fresh = HTTPResponse(status: .ok, headerFields: [.cacheControl: control])
      #expect(try await cache.put(fresh, body: [1], for: request))
      clock.advance(by: .seconds(2))
      return try await cache.send(request)
    }

    @Test(arguments: Handshake.allCases, 0..<transports.count)
    func `it is an error, and no stale response is served as if the origin were away`(
      handshake: Handshake, transport: Int
    ) async throws {
      try await RawServer.run { connection in
        _ = try await connection.body(1)
        try await connection.send(handshake.bytes)
        await connection.waitForEnd()
      } _: { authority in
        for control in ["max-age=1", "max-age=1, stale-if-error=60"] {
          await #expect(throws: (any Error).self) {
            try await Self.answer(over: Self.transports[transport], from: authority, control)
          }
        }
      }
    }

    @Test(arguments: 0..<transports.count)
    func `an origin without a server is away`(transport: Int) async throws {
      try await RawServer.refuse { authority in
        let result = try await Self.answer(over: Self.transports[transport], from: authority)
        #expect(result.reason == .staleDisconnected)
      }
    }
  }
#endif
