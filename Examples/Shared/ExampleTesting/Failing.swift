import Foundation
public import HTTPTypes
public import LarderHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A network that always fails in the same way.
public struct Failing: HTTPTransport {
  /// As a machine without a network has it.
  public static let offline = Failing(with: URLError(.notConnectedToInternet))

  private let error: any Error

  public init(with error: any Error) { self.error = error }

  public func send(
    _ request: HTTPRequest, body: [UInt8],
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    throw error
  }
}
