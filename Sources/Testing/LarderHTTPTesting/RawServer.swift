#if HTTPTesting
  import FlyingSocks
  import Foundation

  /// A server on loopback that sends any bytes, also bytes that no correct server sends, for tests of a transport.
  public struct RawServer {
    /// A connection of a client.
    public struct Connection: Sendable {
      let socket: AsyncSocket

      /// The head of the next request; nil when the client has ended the connection.
      public func head() async -> String? {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
          guard let byte = try? await socket.read() else { return nil }
          bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
      }

      /// The next `count` bytes; throws if the client ends the connection earlier.
      public func body(_ count: Int) async throws -> [UInt8] { try await socket.read(bytes: count) }

      /// Sends the bytes unchanged.
      public func send(_ bytes: some Collection<UInt8>) async throws {
        try await socket.write(Data(bytes))
      }

      /// Sends the bytes of a text in UTF-8.
      public func send(_ text: String) async throws { try await send(text.utf8) }

      /// Waits until the client ends the connection.
      public func waitForEnd() async { while (try? await socket.read()) != nil {} }
    }

    /// Runs a server during `body`, which gets the authority, such as `127.0.0.1:40123`. A connection ends when `serve` returns.
    public static func run<Result: Sendable>(
      _ serve: @escaping @Sendable (Connection) async throws -> Void,
      _ body: (String) async throws -> Result
    ) async throws -> Result {
      let (listening, authority) = try bound()
      try listening.listen(maxPendingConnection: 200)
      let socket = try await AsyncSocket(socket: listening, pool: .client)
      let serving = Task {
        try await withThrowingDiscardingTaskGroup { group in
          while true {
            let connection = try await socket.accept()
            group.addTask {
              // An error of one client must not end the other connections, so the error is ignored.
              try? await serve(Connection(socket: connection))
              try? connection.close()
            }
          }
        }
      }
      // The socket stays open, because the pool still waits for its descriptor, and a new socket could get the same descriptor.
      defer { serving.cancel() }
      return try await body(authority)
    }

    /// Reserves a port on which nothing listens during `body`.
    public static func refuse<Result>(_ body: (String) async throws -> Result) async throws
      -> Result
    {
      let (socket, authority) = try bound()
      defer { try? socket.close() }
      return try await body(authority)
    }

    private static func bound() throws -> (Socket, authority: String) {
      let socket = try Socket(domain: Int32(sockaddr_in.family))
      try socket.bind(to: sockaddr_in.inet(ip4: "127.0.0.1", port: 0))
      guard case .ip4(_, let port) = try socket.sockname() else {
        throw CocoaError(.fileReadUnknown)
      }
      return (socket, "127.0.0.1:\(port)")
    }

    /// Runs a server that answers each request with the same bytes and ends the connection.
    public static func run<Result: Sendable>(
      answer: [UInt8], _ body: (String) async throws -> Result
    ) async throws -> Result {
      try await run(
        { connection in
          _ = await connection.head()
          if !answer.isEmpty { try await connection.send(answer) }
        }, body)
    }
  }
#endif
