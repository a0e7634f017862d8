import HTTPTypes
import Larder
import LarderHTTP

/// Serves a client's connection.
struct RequestHandling: Sendable {
  let cache: ProxyCache
  let origin: Address
  let connections: OpenConnections
  /// Receives the lines of the log; nil if no lines are to be made.
  let log: (@Sendable (String) -> Void)?

  /// Answers requests until either side ends the connection.
  func serve(_ connection: Connection) async {
    let reader = MessageReader(connection, limits: connection.limits)
    defer { connection.close() }
    var isFirst = true
    var isBetweenRequests = false
    do {
      while let head = try await reader.head(isLenient: false, isFirst: isFirst) {
        isFirst = false
        isBetweenRequests = false
        let isLast = try await !answer(head, reader, connection)
        if isLast || connections.isEnding {
          // A client that does not expect the end may have sent another request, so an immediate close could lose the answer.
          if !isLast || !reader.isAtEnd { await connection.closeGracefully() }
          return
        }
        isBetweenRequests = true
      }
      // During the last ready answer the client may have sent another request, which was not read.
      if connection.endsAfterAnswer { await connection.closeGracefully() }
    } catch let error as MessageError {
      log?("bad request: \(error)")
      // On an idle connection no request waits for an answer, so the connection ends without an answer.
      if error == .timedOut, isBetweenRequests || connection.hasAnswered, reader.isIdle { return }
      await refuse(connection, with: .refusal(error))
    } catch {
      log?("connection lost: \(error)")
    }
  }

  /// Refuses a client because there are too many connections.
  func refuse(_ connection: Connection) async {
    connection.deadline.begin(.seconds(2))
    do {
      // An unread request would make the system reset the connection, and the answer would be lost.
      _ = try await connection.read()
    } catch {
      log?("connection lost: \(error)")
    }
    var response = HTTPResponse.failure(503, "Service Unavailable")
    response.headerFields[.retryAfter] = "1"
    await refuse(connection, with: response)
  }

  private func refuse(_ connection: Connection, with response: HTTPResponse) async {
    var response = response
    response.headerFields[.connection] = "close"
    do {
      try await connection.write(response.encodedHead)
      await connection.closeGracefully()
    } catch {
      log?("connection lost: \(error)")
      connection.close()
    }
  }

  /// Answers a request. Returns whether the connection can continue.
  private func answer(
    _ head: MessageHead, _ reader: MessageReader, _ connection: Connection
  ) async throws -> Bool {
    guard let (request, isHTTP11) = try Self.request(head, for: origin) else {
      throw MessageError.malformed(head.start.withoutSecrets)
    }
    guard let framing = Framing(ofRequest: head.fields) else {
      throw Framing.hasUnknownCoding(head.fields)
        ? MessageError.unknownCoding : .malformed(head.start.withoutSecrets)
    }
    let isKept = isHTTP11 && !Self.wantsClose(head.fields)
    let writer = AnswerWriter(connection, isHTTP11: isHTTP11, method: request.method) {
      [connections] in !isKept || connections.isEnding
    }
    if Self.forwardsLeft(head.fields, of: request.method) == 0 {
      reader.begin(framing)
      // The answer to a TRACE would repeat the request with the credentials of its client, so a TRACE gets a 501.
      let isOptions = request.method == .options
      try await writer.write(isOptions ? .empty : .failure(501, "Not Implemented"))
      return reader.isAtEnd && isKept
    }
    if isHTTP11, head.fields[.expect]?.lowercased() == "100-continue" {
      try await writer.write(interim: HTTPResponse(status: .continue))
    }
    reader.begin(framing)
    var result: HTTPCacheResult
    do {
      result = try await cache.send(request, body: Self.body(framing, of: reader)) { interim in
        // Ignores an error: if the client is gone, the final answer fails, too.
        if isHTTP11 { try? await writer.write(interim: interim) }
      }
    } catch let error as ClientError {
      throw error.cause
    } catch {
      log?("\(request.line) failed: \(error)")
      // RFC 9111, section 5.2.2.2: if a response must be validated and cannot be, the answer is a 504.
      let isRead = request.method == .get || request.method == .head
      let needsValidation = isRead && cache.hasStored(for: request) && !(error is LarderError)
      try await writer.write(needsValidation ? .gatewayTimeout : .failure(error))
      return reader.isAtEnd && isKept
    }
    var status = CacheStatus(result)
    status.append(to: &status.response.headerFields)
    log?("\(request.line) \(result.response.status.code) \(status.text)")
    let isRepeated = result.reason == .fresh && result.forwarded == nil && log == nil
    if isRepeated, request.method == .get { connection.keepReady(request, head, from: cache.cache) }
    let body = result.body
    // The result must not hold the body too, so that the writer can release each piece from memory.
    result.body = HTTPBody()
    let isWhole = try await writer.write(status.response, body)
    // If the answer came before the end of the request, the rest of the request must not be read as a new request.
    return isWhole && reader.isAtEnd && isKept
  }

  /// The body of a request. The proxy reads the body only as fast as the origin takes it.
  private static func body(_ framing: Framing, of reader: MessageReader) -> HTTPBody {
    let count: Int?
    switch framing {
    case .length(0): return HTTPBody()
    case .length(let length): count = length
    case .chunked, .untilClose: count = nil
    }
    return HTTPBody(count: count) {
      do {
        return try await reader.piece()
      } catch let error as MessageError {
        throw ClientError(cause: error)
      }
    }
  }
}

/// The error of a faulty request.
struct ClientError: Error {
  let cause: MessageError
}

extension HTTPRequest {
  /// The request for the log, without its query, which may hold a secret.
  fileprivate var line: String { "\(method.rawValue) \((path ?? "").prefix { $0 != "?" })" }
}
