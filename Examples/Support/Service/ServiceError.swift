import Foundation
public import LarderHTTP

/// The reason why a service gave no usable answer.
public enum ServiceError: Error, Sendable, CustomStringConvertible {
  /// There is no complete answer, or no answer of use: no network, a time limit, an invalid certificate, a body that is too large.
  case failed(TransportFailureKind, String)
  case refused(status: Int, message: String)
  case undecodable(path: String, reason: String)
  /// Unexpected content: often the login page of a public network.
  case wrongContent(path: String, type: String)

  /// Whether the network is probably gone: stored data may be shown instead.
  public var isOffline: Bool {
    if case .failed(let kind, _) = self { kind == .offline || kind == .interrupted } else { false }
  }

  /// The status with which the service refused the request; nil for another failure.
  public var status: Int? { if case .refused(let status, _) = self { status } else { nil } }

  /// Whether the service knows the request and refuses it, so that stored data must not be the answer. False for 408 and 429.
  public var isRefusal: Bool {
    status.map { (400..<500).contains($0) && ![408, 429].contains($0) } ?? false
  }

  public var description: String {
    switch self {
    case .failed(_, let reason):
      "the \(isOffline ? "service cannot be reached" : "exchange with the service failed"): \(reason)"
    case .refused(let status, let message): "the service answered \(status): \(message)"
    case .undecodable(let path, let reason):
      // The query may contain a secret, so the text does not show the query.
      "the service's answer to \(path.prefix { $0 != "?" }) is not what it should be: \(reason)"
    case .wrongContent(let path, let type):
      "the answer to \(path.prefix { $0 != "?" }) is \(type); a login page of this network may have sent it"
    }
  }
}

extension DecodingError {
  /// The place and the reason in one line: `[0].rgb is missing`.
  public var words: String {
    switch self {
    case .keyNotFound(let key, let context): "\(Self.path(context.codingPath + [key])) is missing"
    case .valueNotFound(_, let context): "\(Self.path(context.codingPath)) is null"
    case .typeMismatch(let type, let context):
      "\(Self.path(context.codingPath)) is not \(type is [String: Any].Type ? "an object" : "\(type)")"
    case .dataCorrupted(let context):
      context.debugDescription.contains("not valid JSON")
        ? "it is not JSON" : "\(Self.path(context.codingPath)): \(context.debugDescription)"
    @unknown default: "it cannot be decoded"
    }
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    let path = keys.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
    return path.hasPrefix(".") ? String(path.dropFirst()) : path.isEmpty ? "the body" : path
  }
}

extension String {
  public var trimmingBlanks: String { trimmingCharacters(in: .whitespacesAndNewlines) }

  /// The text escaped for a path segment or the value of a parameter: only unreserved characters (RFC 3986, 2.3) stay.
  public var percentEscaped: String {
    let unreserved = CharacterSet(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    return addingPercentEncoding(withAllowedCharacters: unreserved) ?? self
  }
}
