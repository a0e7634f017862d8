import Foundation
public import HTTPTypes
public import LarderHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A network on which every request fails.
public struct Failing: HTTPTransport {
  /// No network.
  public static let offline = Failing(with: URLError(.notConnectedToInternet))

  private let error: any Error

  public init(with error: any Error) { self.error = error }

  public func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    throw error
  }
}
