import Foundation
import HTTPTypes
import LarderHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A network that is not there.
struct Severed: HTTPTransport {
  func send(
    _ request: HTTPRequest, body: [UInt8],
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    throw URLError(.notConnectedToInternet)
  }
}
