public import HTTPTypes
public import LarderHTTP
public import NIOCore

/// Carries requests to one origin in HTTP/1.1.
///
/// GET and HEAD without a body reuse connections; every other request has a connection of its own, so it is never sent twice.
/// Methods, statuses, most fields and their order stay unchanged; a body is read only as fast as its reader takes it.
public struct OriginTransport: HTTPTransport {
  /// The field `Host`. `HTTPTypes` has no name for this field, because newer versions of HTTP do not use the field.
  static let host = HTTPField.Name("Host")!

  let address: Address
  let group: any EventLoopGroup
  private let idle = IdleConnections()
  /// Counts the bytes that are held for slow readers. The clients of a proxy also count in this object.
  let held: HeldBytes

  /// A transport to the origin at `address`, over connections of `group`.
  ///
  /// - Parameter limits: the limits of the proxy.
  public init(
    to address: Address, on group: any EventLoopGroup, limits: ProxyLimits = ProxyLimits()
  ) {
    self.address = address
    self.group = group
    held = HeldBytes(limits)
  }

  public func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    let isReusable = (request.method == .get || request.method == .head) && body.count == 0
    if isReusable, let connection = await idle.take() {
      let exchange = OriginExchange(over: connection, keptIn: idle)
      do {
        return try await exchange.send(head(of: request, body: body), body, interim)
      } catch  where !Task.isCancelled {
        // The origin may end a connection while a request is on its way. Such a request is sent once more, over a new
        // connection: GET and HEAD may be repeated (RFC 9110, section 9.2.2).
        if exchange.hasResponse { throw error }
      }
    }
    let connection = try await Connection.connect(to: address, on: group, held: held)
    let exchange = OriginExchange(over: connection, keptIn: isReusable ? idle : nil)
    return try await exchange.send(head(of: request, body: body), body, interim)
  }

  private func head(of request: HTTPRequest, body: HTTPBody) -> HTTPRequest {
    var head = request
    var fields: HTTPFields = [Self.host: request.authority ?? address.description]
    for field in request.headerFields.endToEnd
    where ![Self.host, .contentLength, .expect].contains(field.name) {
      fields.append(field)
    }
    if let count = body.count {
      if count > 0 || [.post, .put, .patch].contains(request.method) {
        fields[.contentLength] = String(count)
      }
    } else {
      fields[.transferEncoding] = "chunked"
    }
    if (request.method != .get && request.method != .head) || body.count != 0 {
      fields[.connection] = "close"
    }
    head.headerFields = fields
    return head
  }

  static func response(_ head: MessageHead, to method: HTTPRequest.Method) throws -> HTTPResponse {
    // The line is split as bytes, because text joins a space and a combining mark after it into one character.
    let words = head.start.utf8
      .split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false).map(Substring.init)
    guard words.count >= 2, words[0].uppercased().hasPrefix("HTTP/1."), words[1].utf8.count == 3,
      let code = Int(words[1]), (100...999).contains(code)
    else { throw MessageError.malformed("\"\(head.start)\" is no status line") }
    var fields = head.fields
    // RFC 9112, 6.3: the transfer coding overrides the length, which must not be passed on. A 204 and an interim response
    // have no body, and a length in them would mislead a client (RFC 9110, section 8.6).
    if fields.contains(.transferEncoding) || code < 200 || code == 204 {
      fields[.contentLength] = nil
    }
    // No request asks for another protocol, so the origin must not begin one.
    guard code != 101 else { throw MessageError.malformed("the origin switches protocols unasked") }
    // A repeated length is passed on once. In a response without a body, an ambiguous length is omitted (RFC 9110, 8.6).
    if fields.contains(.contentLength) {
      let length = Framing.statedLength(fields).map { String($0) }
      let mayChange = length != nil || method == .head || code == 304
      if mayChange, length.map({ [$0] }) != fields[values: .contentLength] {
        fields[.contentLength] = length
      }
    }
    // Omits a phrase that is not UTF-8: clients ignore the phrase (RFC 9112, section 4).
    let phrase = words.count == 3 && !words[2].unicodeScalars.contains("\u{FFFD}") ? words[2] : ""
    let response = HTTPResponse(
      status: .init(code: code, reasonPhrase: String(phrase)), headerFields: fields)
    if Framing.isAmbiguous(fields) {
      guard case .length = Framing(of: response, to: method) else {
        throw MessageError.malformed("the length of the response is ambiguous")
      }
    }
    return response
  }
}
