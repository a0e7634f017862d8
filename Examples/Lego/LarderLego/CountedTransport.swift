import HTTPTypes
import LarderHTTP
import Synchronization

/// Counts what is asked of a service.
final class CountedTransport: HTTPTransport {
  private let transport: any HTTPTransport
  private let requests = Atomic(0)

  init(_ transport: any HTTPTransport) { self.transport = transport }

  var count: Int { requests.load(ordering: .relaxed) }

  func send(
    _ request: HTTPRequest, body: [UInt8],
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    requests.add(1, ordering: .relaxed)
    return try await transport.send(request, body: body, interim: interim)
  }
}
