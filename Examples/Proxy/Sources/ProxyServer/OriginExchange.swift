import HTTPTypes
import LarderHTTP
import Synchronization

/// One request to the origin and its response.
struct OriginExchange: Sendable {
  private let connection: Connection
  /// Keeps the connection after its response. If nil, the connection is ended instead.
  private let idle: IdleConnections?
  private let reader: MessageReader
  private static let mostInterimResponses = 100

  init(over connection: Connection, keptIn idle: IdleConnections?) {
    self.connection = connection
    self.idle = idle
    reader = MessageReader(connection)
  }

  /// Whether at least one byte of the response has arrived.
  var hasResponse: Bool { reader.hasBegun }

  /// Sends a request. Returns the head of the final response, with a body that is still to be read.
  func send(
    _ request: HTTPRequest, _ body: HTTPBody,
    _ interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    let upload = Upload(body, over: connection)
    do {
      try await upload.begin(after: request.encodedHead)
      for _ in 0...Self.mostInterimResponses {
        guard let head = try await reader.head(isLenient: true) else {
          throw MessageError.incomplete
        }
        let response = try OriginTransport.response(head, to: request.method)
        if response.status.code < 200 {
          await interim(response)
          continue
        }
        let framing = Framing(of: response, to: request.method)
        reader.begin(framing)
        let end = End(of: connection, keptIn: Self.canGoOn(head, framing) ? idle : nil)
        if framing == .length(0) { await end.reach(reader) }
        return (response, self.body(until: end))
      }
      throw MessageError.malformed("the origin sends interim responses without end")
    } catch {
      connection.close()
      // The origin cannot answer without the whole request, so a failed upload is the reason for the error.
      throw upload.failure ?? error
    }
  }

  /// Whether another response may follow over the connection (RFC 9112, section 9.3).
  private static func canGoOn(_ head: MessageHead, _ framing: Framing) -> Bool {
    head.start.hasPrefix("HTTP/1.1 ") && framing != .untilClose
      // After a HEAD, a 204 or a 304 some origins still send a body. This body would count as the answer to the next request.
      && !(framing == .length(0) && Framing.announcesBody(head.fields))
      && !head.fields[values: .connection].contains { $0.lowercased().contains("close") }
  }

  private func body(until end: End) -> HTTPBody {
    HTTPBody(next: {
      do {
        let piece = try await reader.piece()
        if reader.isAtEnd { await end.reach(reader) }
        return piece
      } catch {
        end.close()
        throw error
      }
    })
  }
}

/// Ends a connection if the body of its response is released before the end of the body.
private final class End: Sendable {
  private let connection: Connection
  private let idle: IdleConnections?
  private let isReached = Mutex(false)

  init(of connection: Connection, keptIn idle: IdleConnections?) {
    self.connection = connection
    self.idle = idle
  }

  deinit { close() }

  /// Notes the end of the response. Bytes after this end make the connection unusable.
  func reach(_ reader: MessageReader) async {
    let isFirst = isReached.withLock { isReached in
      defer { isReached = true }
      return !isReached
    }
    guard isFirst else { return }
    if let idle, reader.isIdle { await idle.keep(connection) } else { connection.close() }
  }

  func close() {
    if !isReached.withLock({ $0 }) { connection.close() }
  }
}
