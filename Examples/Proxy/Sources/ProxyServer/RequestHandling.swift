import HTTPTypes
import Larder
import LarderHTTP

/// What happens on a client's connection.
struct RequestHandling: Sendable {
  let cache: ProxyCache
  let origin: Address
  /// Nil where nobody reads it: the lines are not made then.
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
        guard try await answer(head, reader, connection) else {
          if !reader.isAtEnd { await connection.closeGracefully() }
          return
        }
        isBetweenRequests = true
      }
    } catch let error as MessageError {
      log?("bad request: \(error)")
      // A connection that was idle ends without a word.
      if error == .timedOut, isBetweenRequests || connection.hasAnswered, reader.isIdle { return }
      await refuse(connection, with: .refusal(error))
    } catch {
      log?("connection lost: \(error)")
    }
  }

  /// Answers a client for which there is no connection.
  func refuse(_ connection: Connection) async {
    connection.deadline.begin(.seconds(2))
    do {
      // A request that is not read would reset the connection, and the answer with it.
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

  /// Whether the connection can go on.
  private func answer(
    _ head: MessageHead, _ reader: MessageReader, _ connection: Connection
  ) async throws -> Bool {
    guard let (request, isHTTP11) = Self.request(head, for: origin),
      let framing = Framing(ofRequest: head.fields)
    else { throw MessageError.malformed(head.start) }
    let writer = AnswerWriter(connection, isHTTP11: isHTTP11, method: request.method)
    if Self.forwardsLeft(head.fields, of: request.method) == 0 {
      reader.begin(framing)
      // To a TRACE the answer would be the request, with the credentials of its client.
      let isOptions = request.method == .options
      try await writer.write(isOptions ? .empty : .failure(501, "Not Implemented"))
      return reader.isAtEnd && isHTTP11 && !Self.wantsClose(head.fields)
    }
    if isHTTP11, head.fields[.expect]?.lowercased() == "100-continue" {
      try await writer.write(interim: HTTPResponse(status: .continue))
    }
    reader.begin(framing)
    var result: HTTPCacheResult
    do {
      result = try await cache.send(request, body: Self.body(framing, of: reader)) { interim in
        // The client may be gone; the final answer will tell.
        if isHTTP11 { try? await writer.write(interim: interim) }
      }
    } catch let error as ClientError {
      throw error.cause
    } catch {
      log?("\(request.line) failed: \(error)")
      // RFC 9111, section 5.2.2.2: what must be validated, and cannot be, is a 504.
      let isRead = request.method == .get || request.method == .head
      let needsValidation = isRead && cache.hasStored(for: request) && !(error is LarderError)
      try await writer.write(needsValidation ? .gatewayTimeout : .failure(error))
      return reader.isAtEnd && isHTTP11 && !Self.wantsClose(head.fields)
    }
    var status = CacheStatus(result)
    status.append(to: &status.response.headerFields)
    log?("\(request.line) \(result.response.status.code) \(status.text)")
    let isRepeated = result.reason == .fresh && result.forwarded == nil && log == nil
    if isRepeated, request.method == .get { connection.keepReady(request, head, from: cache.cache) }
    let body = result.body
    // Whoever writes it may let go of what is in memory.
    result.body = HTTPBody()
    let isWhole = try await writer.write(status.response, body)
    // An answer may come before all of its request: what is left of that is no request.
    return isWhole && reader.isAtEnd && isHTTP11 && !Self.wantsClose(head.fields)
  }

  /// The body of a request, read as it is sent on.
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

  /// The request that a head makes, to the origin; nil for one that is none.
  static func request(_ head: MessageHead, for origin: Address) -> (HTTPRequest, isHTTP11: Bool)? {
    let words = head.start.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, let method = HTTPRequest.Method(String(words[0])),
      words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0",
      hasHost(head.fields, isOptional: words[2] == "HTTP/1.0"),
      // RFC 9112, 6.1: the framing of such a message is faulty.
      words[2] == "HTTP/1.1" || !head.fields.contains(.transferEncoding),
      let target = target(words[1], of: method)
    else { return nil }
    var fields = head.fields.endToEnd
    fields[OriginTransport.host] = nil
    if let left = Self.forwardsLeft(head.fields, of: method), left > 0 {
      fields[Self.maxForwards] = String(left - 1)
    }
    fields.append(HTTPField(name: .via, value: "\(words[2].dropFirst(5)) larder"))
    let request = HTTPRequest(
      method: method, scheme: "http", authority: origin.description, path: target,
      headerFields: fields)
    return (request, words[2] != "HTTP/1.0")
  }

  /// Whether a request names its host once, in the form of an authority (RFC 9112, section 3.2).
  private static func hasHost(_ fields: HTTPFields, isOptional: Bool) -> Bool {
    let hosts = fields[values: OriginTransport.host]
    guard hosts.count == 1 else { return hosts.isEmpty && isOptional }
    return hosts[0].utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: "-._~%!$&'()*+;=:[]".utf8.contains(byte)
      }
    }
  }

  /// The target in origin form (RFC 9112, section 3.2); nil for one that this proxy does not serve.
  private static func target(_ text: Substring, of method: HTTPRequest.Method) -> String? {
    guard !text.utf8.contains(where: { $0 < 0x21 || $0 == 0x7F }) else { return nil }
    if text.hasPrefix("/") { return method == .connect ? nil : String(text) }
    if text == "*" { return method == .options ? "*" : nil }
    // A client that takes this for a proxy of its own names the origin in full.
    guard text.lowercased().hasPrefix("http://"), method != .connect else { return nil }
    let rest = text.dropFirst("http://".count)
    let authority = rest.prefix { !"/?#".contains($0) }
    guard !authority.isEmpty else { return nil }
    let path = rest[authority.endIndex...]
    return path.hasPrefix("/") ? String(path) : "/" + path
  }

  private static let maxForwards = HTTPField.Name("Max-Forwards")!

  /// How many more servers may get the request (RFC 9110, section 7.6.2); nil where that has no limit.
  private static func forwardsLeft(_ fields: HTTPFields, of method: HTTPRequest.Method) -> Int? {
    guard method == .options || method == .trace, let value = fields[maxForwards],
      value.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int(value)
  }

  private static func wantsClose(_ fields: HTTPFields) -> Bool {
    fields[values: .connection].contains { $0.lowercased().contains("close") }
  }
}

/// The client's request is at fault.
struct ClientError: Error {
  let cause: MessageError
}

extension HTTPRequest {
  /// For the log.
  fileprivate var line: String { "\(method.rawValue) \(path ?? "")" }
}

extension HTTPResponse {
  static func failure(_ code: Int, _ phrase: String) -> HTTPResponse {
    HTTPResponse(
      status: .init(code: code, reasonPhrase: phrase), headerFields: [.contentLength: "0"])
  }

  static var empty: HTTPResponse {
    HTTPResponse(status: .ok, headerFields: [.contentLength: "0"])
  }

  static var gatewayTimeout: HTTPResponse { failure(504, "Gateway Timeout") }

  /// What a client is told whose request cannot be read.
  static func refusal(_ error: MessageError) -> HTTPResponse {
    switch error {
    case .tooManyFields: failure(431, "Request Header Fields Too Large")
    case .timedOut: failure(408, "Request Timeout")
    case .malformed, .incomplete: failure(400, "Bad Request")
    }
  }

  /// What a client is told where there is no answer (RFC 9110, 15.6): that the origin is silent, that it cannot be reached
  /// or understood, or that the store fails.
  static func failure(_ error: any Error) -> HTTPResponse {
    switch error {
    case HTTPCacheError.timedOut: gatewayTimeout
    case is LarderError: failure(500, "Internal Server Error")
    default: failure(502, "Bad Gateway")
    }
  }
}
