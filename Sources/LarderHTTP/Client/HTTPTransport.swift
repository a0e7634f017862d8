public import HTTPTypes

/// Sends requests to the origin.
public protocol HTTPTransport: Sendable {
  /// Sends a request and returns the head of its final answer, with a body that is still to be read.
  ///
  /// A transport does not follow redirections, cache or repeat requests. It throws when the origin cannot be reached, and
  /// supports cancellation. A body that ends before its announced length throws at its end.
  ///
  /// - Parameters:
  ///   - body: the body of the request, to be read once and only as fast as it is sent.
  ///   - interim: receives responses with a status below 200, in order.
  func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody)
}

/// The errors of a cache that are not errors of its transport.
public enum HTTPCacheError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The origin did not answer in time, or stalled within its response.
  case timedOut(Duration)
  /// The request or the response has this number of fields, which is more than 1,000.
  case tooManyFields(Int)
  /// A body is longer than this limit, in bytes.
  case bodyTooLarge(limit: Int)
  /// The store has removed the stored response while its body was being read, so the rest of that body is gone.
  case bodyGone

  /// The number of fields of a message that a cache accepts. A transport checks it before it builds `HTTPFields`, whose
  /// own limit of 65,535 fields is a precondition.
  public static let largestFieldCount = 1_000

  public var description: String {
    switch self {
    case .timedOut(let limit): "the origin sent nothing for \(limit)"
    case .tooManyFields(let count):
      "the message has \(count) fields; at most \(Self.largestFieldCount) are accepted"
    case .bodyTooLarge(let limit): "the body is longer than \(limit) bytes"
    case .bodyGone: "the store has removed the stored response while its body was read"
    }
  }
}
