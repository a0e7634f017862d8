// For its networking, which knows words for what went wrong.
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Why a service gave nothing that could be used.
public enum ServiceError: Error, Sendable, CustomStringConvertible {
  /// It cannot be reached, or does not answer in time.
  case unreachable(String)
  /// It answered with an error of its own: its status, and what it said.
  case refused(status: Int, message: String)
  /// It wants to be asked less often, and said so once more after the wait that it asked for.
  case throttled(wait: Duration)
  /// A body that is not what it should be.
  case undecodable(path: String, reason: String)

  static func unreachable(after error: any Error) -> ServiceError {
    .unreachable((error as? URLError)?.localizedDescription ?? "\(error)")
  }

  /// Whether nothing came from the service at all, as when the network is gone.
  public var isOffline: Bool {
    if case .unreachable = self { true } else { false }
  }

  public var description: String {
    switch self {
    case .unreachable(let reason): "the service cannot be reached: \(reason)"
    case .refused(let status, let message): "the service answered \(status): \(message)"
    case .throttled(let wait): "the service wants to be asked less often; it said to wait \(wait)"
    case .undecodable(let path, let reason):
      "the service's answer to \(path) is not what it should be: \(reason)"
    }
  }
}
