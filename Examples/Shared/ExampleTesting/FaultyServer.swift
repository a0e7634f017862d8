import FlyingSocks
import Foundation

/// A server on loopback that answers every request with the same fault, byte by byte.
public enum Fault: String, CaseIterable, Sendable {
  /// The connection closes before the announced end of the body.
  case truncated
  /// The connection closes without an answer.
  case reset
  /// The announced length is shorter than the body.
  case wrongLength
  case notHTTP
  /// A good status with a body of another type.
  case wrongType
  case emptyBody
  /// 429 with a wait that is too long, as seconds and as a date.
  case throttledSeconds, throttledDate
  /// An answer with a date of 1970.
  case clockSkew
  case serverError

  private var answer: String {
    func good(_ fields: String, _ body: String, length: Int? = nil) -> String {
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: max-age=600\r\n\(fields)"
        + "Content-Length: \(length ?? body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }
    func busy(_ wait: String) -> String {
      "HTTP/1.1 429 Too Many Requests\r\n\(wait)Content-Length: 0\r\nConnection: close\r\n\r\n"
    }
    let body = #"{"id": 4, "name": "x", "data": {}, "stationboard": []}"#
    return switch self {
    case .truncated: good("", body, length: 5000)
    case .reset: ""
    case .wrongLength: good("", body, length: 7)
    case .notHTTP: "this is not HTTP\r\n\r\n"
    case .wrongType: good("", "\u{89}PNG\r\n\u{1A}\n")
    case .emptyBody: good("", "")
    case .throttledSeconds: busy("Retry-After: 3600\r\n")
    case .throttledDate:
      busy(
        "Date: Wed, 21 Oct 2015 07:28:00 GMT\r\nRetry-After: Wed, 21 Oct 2015 08:28:00 GMT\r\n")
    case .clockSkew: good("Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n", #"{"nothing": "useful"}"#)
    case .serverError:
      "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    }
  }

  /// Calls `body` with the address of such a server.
  public func serve<Result: Sendable>(
    _ body: (String) async throws -> Result
  ) async throws -> Result {
    let address = try sockaddr_in.inet(ip4: "127.0.0.1", port: 0)
    let listening = try Socket(domain: Int32(sockaddr_in.family))
    try listening.bind(to: address)
    try listening.listen()
    guard case .ip4(_, let port) = try listening.sockname() else {
      throw CocoaError(.fileReadUnknown)
    }
    let socket = try await AsyncSocket(socket: listening, pool: .client)
    let bytes = Data(answer.utf8)
    let serving = Task {
      while true {
        let connection = try await socket.accept()
        // One packet has the whole request.
        _ = try await connection.read(atMost: 65_536)
        if !bytes.isEmpty { try await connection.write(bytes) }
        try connection.close()
      }
    }
    defer { serving.cancel() }
    return try await body("http://127.0.0.1:\(port)")
  }
}
