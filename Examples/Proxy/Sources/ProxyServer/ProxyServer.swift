public import LarderHTTP
public import NIOCore
import NIOPosix

/// Answers HTTP/1 requests on an address out of a cache, as if it were the origin.
public struct ProxyServer: Sendable {
  /// Where it listens; the port is the one that was given by the system if none was asked for.
  public let address: Address
  private let listener: any Channel

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - origin: what requests are made to.
  ///   - log: is told each request in a line.
  public static func start(
    _ cache: HTTPCache, for origin: Address, at address: Address, on group: any EventLoopGroup,
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) async throws -> ProxyServer {
    let handling = RequestHandling(cache: cache, origin: origin, log: log)
    let listener = try await ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let connection = try Connection(settingUp: channel)
          Task { await handling.serve(connection) }
        }
      }
      .bind(host: address.host, port: address.port).get()
    let port = listener.localAddress?.port ?? address.port
    return ProxyServer(address: Address(host: address.host, port: port), listener: listener)
  }

  /// Listens no more; connections that are there go on.
  public func stop() async throws { try await listener.close() }
}
