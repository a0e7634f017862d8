public import HTTPTypes
public import LarderHTTP
public import LarderHTTPTesting

/// Sends requests to any host to a server of the test.
public struct LocalTransport: HTTPTransport {
  private let server: LocalServer
  private let base: any HTTPTransport

  public init(to server: LocalServer, over base: any HTTPTransport) {
    (self.server, self.base) = (server, base)
  }

  public func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    var request = request
    request.scheme = "http"
    request.authority = String(server.base.dropFirst("http://".count))
    return try await base.send(request, body: body, interim: interim)
  }
}
