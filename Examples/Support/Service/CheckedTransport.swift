public import HTTPTypes
import Larder
public import LarderHTTP

/// Passes on only complete answers, and only JSON where JSON is expected.
///
/// Put it between an HTTP cache and the network. The cache replaces a stored answer as soon as another one begins, so without this
/// a login page of a public network, a body that was cut off, or one of another form would destroy the last good answer.
///
/// Requests that accept something else, such as images, are not checked.
///
/// It leaves out a wrong date. An answer of a server whose clock is wrong would be stale on arrival, because the age of an answer
/// counts from its date.
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
    let isChecked =
      request.method == .get && request.headerFields[.accept]?.contains("json") ?? true
    var (response, body) = try await transport.send(request, body: body, interim: interim)
    if Self.hasWrongDate(response) { response.headerFields[.date] = nil }
    guard isChecked, response.status.kind == .successful else { return (response, body) }
    let reply = Reply(
      response, body: try await body.bytes(upTo: Service.largestBody), path: request.path ?? "/")
    if reply.isPage { throw ServiceError.wrongContent(path: reply.path, type: "a web page") }
    _ = try reply.decoded(AnyJSON.self)
    try check(reply)
    return (response, HTTPBody(reply.body))
  }

  /// Without a cache on the way, which adds an `Age`, an answer to be stored was made at most ``slowest`` ago.
  private static func hasWrongDate(_ response: HTTPResponse) -> Bool {
    let now = SystemClock().now
    guard response.status.kind == .successful || response.status == .notModified,
      response.headerFields[.age] == nil, let text = response.headerFields[.date],
      let date = HTTPDate(strictly: text, now: now)
    else { return false }
    let age = date.timestamp.duration(to: now)
    return age > slowest || age < .zero - slowest
  }

  private static let slowest = Duration.seconds(60)
}
