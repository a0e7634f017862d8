public import HTTPTypes
public import LarderHTTP

/// Passes on only complete answers, and only JSON where JSON is expected.
///
/// Put it between an HTTP cache and the network. The cache replaces a stored answer as soon as another one begins, so without this
/// a login page of a public network, a body that was cut off, or one of another form would destroy the last good answer.
///
/// Requests that accept something else, such as images, are not checked.
public struct CheckedTransport: HTTPTransport {
  private let transport: any HTTPTransport
  private let check: @Sendable (Reply) throws -> Void

  private struct AnyJSON: Decodable { init(from decoder: any Decoder) {} }

  /// - Parameter check: throws for JSON that the adapter cannot use.
  public init(
    _ transport: any HTTPTransport, check: @escaping @Sendable (Reply) throws -> Void = { _ in }
  ) {
    (self.transport, self.check) = (transport, check)
  }

  public func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    let (response, body) = try await transport.send(request, body: body, interim: interim)
    guard request.method == .get, response.status.kind == .successful,
      request.headerFields[.accept]?.contains("json") ?? true
    else { return (response, body) }
    let reply = Reply(
      response, body: try await body.bytes(upTo: Service.largestBody), path: request.path ?? "/")
    if reply.isPage { throw ServiceError.wrongContent(path: reply.place, type: "a web page") }
    _ = try reply.decoded(AnyJSON.self)
    try check(reply)
    return (response, HTTPBody(reply.body))
  }
}
