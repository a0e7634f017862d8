public import HTTPTypes

/// What carries requests to the origin.
public protocol HTTPTransport: Sendable {
  /// Sends a request and returns the head of its final answer, with a body that is still to be read.
  ///
  /// Redirections are answers like others, and are not followed; nothing is cached, and nothing is sent twice. Throws
  /// whatever keeps the origin from being reached, and lets its task be cancelled. A body that ends before all that was
  /// announced has come throws where it ends.
  ///
  /// - Parameter interim: is told of answers with a status below 200, in their order.
  func send(
    _ request: HTTPRequest, body: [UInt8],
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody)
}

/// Why a request has no answer, where that is not the transport's own error.
public enum HTTPCacheError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The origin did not answer in time, or has gone silent in the middle of its answer.
  case timedOut(Duration)

  public var description: String {
    switch self {
    case .timedOut(let limit): "nothing has come from the origin for \(limit)"
    }
  }
}
