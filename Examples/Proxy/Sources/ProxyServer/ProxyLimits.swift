#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The limits of a proxy's clients. A client that exceeds a time limit is disconnected, with a 408 if it still waits for
/// an answer.
public struct ProxyLimits: Sendable, Hashable {
  /// The most connections, or fewer if the process cannot open two descriptors for each. The next 64 connections get a 503.
  public var connections = 1_000
  /// The largest possible ``connections``. A larger number counts as this number.
  public static let mostConnections = 1_000_000
  /// How long a connection may be idle between two requests.
  public var idle = Duration.seconds(60)
  /// How long the head of a request may take from its first byte on, and how long a new connection may wait for that byte.
  public var head = Duration.seconds(15)
  /// How long each piece of the body of a request may take.
  public var body = Duration.seconds(30)
  /// How long the client may read nothing of an incomplete answer. A client that reads slowly may continue.
  public var write = Duration.seconds(60)

  /// The most bytes of bodies that are held for slow readers, on all connections together. Beyond the limit, stored bodies are
  /// read from the store again, and other bodies come in small pieces; no client is refused.
  public var buffered = 64_000_000

  /// The default limits.
  public init() {}

  /// Descriptors for the store, the listener and refused connections.
  private static let reservedDescriptors = 128
  /// The number of connections above the limit that get a 503. Further connections are closed immediately.
  static let refusals = 64

  /// The number of connections for which the process has descriptors: one to the client and one to the origin for each.
  ///
  /// Raises the soft limit of the process to the hard limit, at most to 65,536. So the limit of connections is reached before
  /// the limit of descriptors, beyond which the proxy could not even answer.
  var possibleConnections: Int {
    #if canImport(Glibc)
      let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let kind = RLIMIT_NOFILE
    #endif
    var limit = rlimit()
    guard unsafe getrlimit(kind, &limit) == 0 else { return connections }
    if limit.rlim_cur < limit.rlim_max {
      var raised = limit
      raised.rlim_cur = min(limit.rlim_max, 1 << 16)
      if raised.rlim_cur > limit.rlim_cur, unsafe setrlimit(kind, &raised) == 0 { limit = raised }
    }
    let descriptors = Int(clamping: limit.rlim_cur)
    return max(1, min(connections, (descriptors - Self.reservedDescriptors) / 2))
  }
}
