#if HTTPTesting
  import FlyingSocks
  import Foundation

  /// The fault that a server on loopback has in each of its answers; ``serve(received:_:)`` runs the server.
  ///
  /// The faults are for tests of adapters. For each fault of the origin, a cache must answer from its stored responses or
  /// throw, and must store nothing of the faulty answer.
  public enum ServerFault: String, CaseIterable, Sendable {
    /// The connection closes before the announced end of the body.
    case truncated
    /// A compressed body without an announced length, whose end is missing.
    case truncatedGzip
    /// The connection closes without an answer.
    case reset
    /// The server closes a kept connection in place of its second answer.
    case resetKept
    /// The announced length is shorter than the body.
    case wrongLength
    /// The answer is a line of text.
    case notHTTP
    /// A good status with a body of another type than `Content-Type` says.
    case wrongType
    /// A good status without a body.
    case emptyBody
    /// The status 429 with a wait of an hour, as a number of seconds.
    case throttledSeconds
    /// The status 429 with a wait until a date, which is an hour after the date of the answer.
    case throttledDate
    /// An answer with a date of 1970.
    case clockSkew
    /// The status 500.
    case serverError
    /// A good status with an object that describes an error.
    case errorObject
    /// A web page in place of data, such as the login page of a public network.
    case webPage
    /// A redirection to the same path, without an end.
    case redirectLoop
    /// A good answer in small pieces, with a pause before each piece.
    case slow

    private var answer: Data {
      guard self == .truncatedGzip else { return Data(text.utf8) }
      // The start of a block without compression. The block announces 500 bytes, but only 15 bytes follow.
      let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255, 1, 0xF4, 0x01, 0x0B, 0xFE]
      return Data(text.utf8) + Data(head) + Data("<section>One, t".utf8)
    }

    private var text: String {
      let start =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: max-age=600\r\n"
      func good(
        _ fields: String, _ body: String, length: Int? = nil, connection: String = "close"
      ) -> String {
        start + fields
          + "Content-Length: \(length ?? body.utf8.count)\r\nConnection: \(connection)\r\n\r\n\(body)"
      }
      func busy(_ wait: String) -> String {
        "HTTP/1.1 429 Too Many Requests\r\n\(wait)Content-Length: 0\r\nConnection: close\r\n\r\n"
      }
      let body = #"{"id": 4, "name": "x", "data": {}, "stationboard": []}"#
      return switch self {
      case .truncated: good("", body, length: 5000)
      case .truncatedGzip: start + "Content-Encoding: gzip\r\nConnection: close\r\n\r\n"
      case .reset: ""
      case .resetKept: good("", body, connection: "keep-alive")
      case .wrongLength: good("", body, length: 7)
      case .notHTTP: "this is not HTTP\r\n\r\n"
      case .wrongType: good("", "\u{89}PNG\r\n\u{1A}\n")
      case .emptyBody: good("", "")
      case .throttledSeconds: busy("Retry-After: 3600\r\n")
      case .throttledDate:
        busy(
          "Date: Wed, 21 Oct 2015 07:28:00 GMT\r\nRetry-After: Wed, 21 Oct 2015 08:28:00 GMT\r\n")
      case .clockSkew: good("Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n", #"{"nothing": "useful"}"#)
      case .errorObject: good("", #"{"error": {"code": 17, "message": "quota"}, "success": false}"#)
      case .webPage:
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 26\r\nConnection: close\r\n\r\n<html>Please log in</html>"
      case .redirectLoop:
        "HTTP/1.1 302 Found\r\nLocation: ?again\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
      case .slow: good("", body)
      case .serverError:
        "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
      }
    }

    /// Runs a server with this fault on a free port during `body`, which gets the address: `http://127.0.0.1:40123`.
    ///
    /// - Parameter received: a closure that gets the first line of each request.
    /// - Throws: the error of `body` or of the socket.
    public func serve<Result: Sendable>(
      received: @escaping @Sendable (String) -> Void = { _ in },
      _ body: (String) async throws -> Result
    ) async throws -> Result {
      try await RawServer.run(
        { try await answer($0.socket, received) }, { try await body("http://" + $0) })
    }

    private func answer(
      _ connection: AsyncSocket, _ received: @Sendable (String) -> Void
    ) async throws {
      let bytes = answer
      let pieces = self == .slow ? bytes.map { Data([$0]) } : bytes.isEmpty ? [] : [bytes]
      var hasAnswered = false
      while true {
        let packet = String(decoding: try await connection.read(atMost: 65_536), as: UTF8.self)
        let line = packet.components(separatedBy: "\r\n")[0]
        // A packet may have only the head of a request. The body then comes in the next packet, which gets no answer.
        guard line.hasSuffix(" HTTP/1.1") else { continue }
        received(line)
        if hasAnswered { return }
        hasAnswered = true
        for piece in pieces {
          if self == .slow { try await Task.sleep(for: .milliseconds(2)) }
          try await connection.write(piece)
        }
        if self != .resetKept { return }
      }
    }
  }
#endif
