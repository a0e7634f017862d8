public import NIOCore
import NIOPosix

/// Answers HTTP/1 requests on an address from a cache, in place of the origin.
public struct ProxyServer: Sendable {
  /// The address on which the server listens, with the port that the system chose if no port was given.
  public let address: Address
  private let listener: any Channel
  private let watching: Task<Void, Never>
  let connections: OpenConnections
  let held: HeldBytes
  /// The ready answers; nil if each request is logged.
  let ready: ReadyAnswersByLoop?

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - origin: the address of the origin.
  ///   - limits: the limits of clients, by the clock of the store.
  ///   - log: receives each request as a line, without its query.
  public static func start(
    _ cache: ProxyCache, for origin: Address, at address: Address, on group: any EventLoopGroup,
    limits: ProxyLimits = ProxyLimits(), log: (@Sendable (String) -> Void)? = nil
  ) async throws -> ProxyServer {
    let clock = cache.clock
    let connections = OpenConnections(limit: limits.possibleConnections, clock: clock)
    let safeLog: (@Sendable (String) -> Void)? =
      if let log { { line in log(line.logged) } } else { nil }
    let handling = RequestHandling(
      cache: cache, origin: origin, connections: connections, log: safeLog)
    let held = (cache.transport as? OriginTransport)?.held ?? HeldBytes(limits)
    let ready = log == nil ? ReadyAnswersByLoop() : nil
    let listener = try await ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(.recvAllocator, value: ReceiveBuffers(held))
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let connection = try Connection(
            settingUp: channel, limits: limits, clock: clock, held: held,
            ready: ready?.answers(on: channel.eventLoop))
          let (number, admission) = connections.add(connection)
          channel.closeFuture.whenComplete { _ in connections.remove(number, admission) }
          let executor = LoopExecutor(channel.eventLoop)
          switch admission {
          case .admitted: Task(executorPreference: executor) { await handling.serve(connection) }
          case .refused: Task(executorPreference: executor) { await handling.refuse(connection) }
          case .dropped: connection.close()
          }
        }
      }
      .bind(host: address.host, port: address.port).get()
    let port = listener.localAddress?.port ?? address.port
    return ProxyServer(
      address: Address(host: address.host, port: port), listener: listener,
      watching: Task { await connections.watch() }, connections: connections, held: held,
      ready: ready)
  }

  /// Stops the server. Idle connections end immediately, and other connections end after the answer to their request.
  ///
  /// - Parameter limit: how long requests may still take. A cancellation of the task also ends these requests.
  public func stop(within limit: Duration = .zero) async throws {
    // The time limits of clients apply until the end, so `watching` is cancelled last.
    defer { watching.cancel() }
    try await listener.close()
    await connections.end(within: limit)
  }
}
