import Foundation
public import HTTPTypes
public import LarderHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A network on which every request fails, without a connection.
public struct FailingTransport: HTTPTransport {
  /// A network without a connection: `URLError.notConnectedToInternet`.
  public static let offline = FailingTransport(with: URLError(.notConnectedToInternet))

  private let error: any Error

  /// - Parameter error: the error of every request.
  public init(with error: any Error) { self.error = error }

  /// Throws the error.
  public func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    throw error
  }
}
