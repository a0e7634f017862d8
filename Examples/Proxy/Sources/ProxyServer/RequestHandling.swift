import HTTPTypes
import Larder
import LarderHTTP

/// What happens on a client's connection.
struct RequestHandling: Sendable {
  let cache: HTTPCache
  let origin: Address
  let log: @Sendable (String) -> Void

  /// Answers requests until either side ends the connection.
  func serve(_ connection: Connection) async {
    let reader = MessageReader(connection)
    defer { connection.close() }
    do {
      while let head = try await reader.head(isLenient: false) {
        guard try await answer(head, reader, connection) else { return }
      }
    } catch let error as MessageError {
      log("bad request: \(error)")
      let refusal = AnswerWriter(connection, isHTTP11: true, method: .get)
      let response: HTTPResponse =
        error == .tooManyFields
        ? .failure(431, "Request Header Fields Too Large") : .failure(400, "Bad Request")
      do {
        try await refusal.write(response)
      } catch {
        log("connection lost: \(error)")
      }
    } catch {
      log("connection lost: \(error)")
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
    if isHTTP11, head.fields[.expect]?.lowercased() == "100-continue" {
      try await writer.write(interim: HTTPResponse(status: .continue))
    }
    await reader.begin(framing)
    var body: [UInt8] = []
    while let piece = try await reader.piece() { body += piece }

    let result: HTTPCacheResult
    do {
      result = try await cache.send(request, body: body) { interim in
        // The client may be gone; the final answer will tell.
        if isHTTP11 { try? await writer.write(interim: interim) }
      }
    } catch {
      log("\(request.method.rawValue) \(request.path ?? "") failed: \(error)")
      try await writer.write(.failure(error))
      return isHTTP11 && !Self.wantsClose(head.fields)
    }
    var status = CacheStatus(result)
    status.append(to: &status.response.headerFields)
    log(
      "\(request.method.rawValue) \(request.path ?? "") \(result.response.status.code) \(status.text)"
    )
    let isWhole = try await writer.write(status.response, result.body)
    return isWhole && isHTTP11 && !Self.wantsClose(head.fields)
  }

  /// The request that a head makes, to the origin; nil for one that is none.
  static func request(_ head: MessageHead, for origin: Address) -> (HTTPRequest, isHTTP11: Bool)? {
    let words = head.start.split(separator: " ")
    guard words.count == 3, let method = HTTPRequest.Method(String(words[0])),
      words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0",
      head.fields[values: OriginTransport.host].count == 1
        || words[2] == "HTTP/1.0" && !head.fields.contains(OriginTransport.host)
    else { return nil }
    var target = words[1]
    // A client that takes this for a proxy of its own names the origin in full.
    if let scheme = target.firstRange(of: "://"), !target.hasPrefix("/") {
      target = target[scheme.upperBound...]
      target = target.firstIndex(of: "/").map { target[$0...] } ?? "/"
    }
    var fields = head.fields.endToEnd
    fields[OriginTransport.host] = nil
    fields.append(HTTPField(name: .via, value: "\(words[2].dropFirst(5)) larder"))
    let request = HTTPRequest(
      method: method, scheme: "http", authority: origin.description, path: String(target),
      headerFields: fields)
    return (request, words[2] != "HTTP/1.0")
  }

  private static func wantsClose(_ fields: HTTPFields) -> Bool {
    fields[values: .connection].contains { $0.lowercased().contains("close") }
  }
}

extension HTTPResponse {
  static func failure(_ code: Int, _ phrase: String) -> HTTPResponse {
    HTTPResponse(
      status: .init(code: code, reasonPhrase: phrase), headerFields: [.contentLength: "0"])
  }

  /// What a client is told where there is no answer (RFC 9110, 15.6): that the origin is silent, that it cannot be reached
  /// or understood, or that the store fails.
  static func failure(_ error: any Error) -> HTTPResponse {
    switch error {
    case HTTPCacheError.timedOut: failure(504, "Gateway Timeout")
    case is LarderError: failure(500, "Internal Server Error")
    default: failure(502, "Bad Gateway")
    }
  }
}
