/// Why a service gave nothing that could be used.
public enum ServiceError: Error, Sendable, CustomStringConvertible {
  /// It cannot be reached, or does not answer in time.
  case unreachable(String)
  /// It is there, and what it says cannot be had: its certificate is wrong, or what comes is no HTTP.
  case broken(String)
  /// It answered with an error of its own: its status, and what it said.
  case refused(status: Int, message: String)
  /// It wants to be asked less often, and said so once more after the wait that it asked for.
  case throttled(wait: Duration)
  /// A body that is not what it should be.
  case undecodable(path: String, reason: String)

  /// Whether nothing came from the service at all, as when the network is gone.
  public var isOffline: Bool {
    if case .unreachable = self { true } else { false }
  }

  public var description: String {
    switch self {
    case .unreachable(let reason): "the service cannot be reached: \(reason)"
    case .broken(let reason): "the exchange with the service broke off: \(reason)"
    case .refused(let status, let message): "the service answered \(status): \(message)"
    case .throttled(let wait): "the service wants to be asked less often; it said to wait \(wait)"
    case .undecodable(let path, let reason):
      "the service's answer to \(path) is not what it should be: \(reason)"
    }
  }
}
