#if Redis
  import Larder
  import LarderShared
  import NIOCore
  import NIOPosix
  import NIOSSL
  import Synchronization

  struct LoginError: Error, CustomStringConvertible { var description: String }

  /// One connection to a server. All methods may be called on any thread.
  final class Connection: Sendable {
    /// The most commands that wait for their replies; further commands are refused.
    static let mostUnanswered = 10_000
    private static let connectTimeout = TimeAmount.seconds(2)
    /// If the server sends less than 16 kB in this time, and the oldest command's deadline has passed, the connection is closed.
    static let longestSilence = TimeAmount.seconds(2)

    private let channel: any Channel
    private let unanswered = Atomic(0)

    private init(_ channel: any Channel) { self.channel = channel }

    /// Connects and logs in.
    static func open(to address: ServerAddress, _ login: Login) async throws -> Connection {
      let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connectTimeout(connectTimeout)
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            if let tls = login.tls {
              // A server name in TLS must not be an IP address, so for an IP address no name is sent.
              let host = address.host
              let isAddress = (try? SocketAddress(ipAddress: host, port: address.port)) != nil
              try channel.pipeline.syncOperations.addHandler(
                NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host))
            }
            try channel.pipeline.syncOperations.addHandler(ReplyHandler())
          }
        }.connect(host: address.host, port: address.port).get()
      let connection = Connection(channel)
      do { try await connection.logIn(login.words) } catch {
        connection.close()
        throw error
      }
      return connection
    }

    private func logIn(_ words: [[UInt8]]) async throws(LoginError) {
      let reply = PendingReply()
      send(Command(words, timeout: .seconds(2)), asking: false, .now() + .seconds(2), reply)
      do throws(LarderError) { if case .bytes = try await reply.value() { return } } catch {
        throw LoginError(description: "the server did not answer the login: \(error.message)")
      }
      // A foreign server could send any text, such as the password, so no message of the server is shown.
      throw LoginError(description: "the server refused the user or password, or asks for one")
    }

    /// Calls `body` once, when the connection has ended.
    func whenClosed(_ body: @escaping @Sendable () -> Void) {
      channel.closeFuture.whenComplete { _ in body() }
    }

    /// Writes a command, after `ASKING` if `asking` is true. `reply` always gets an outcome: the server's answer or an error.
    func send(_ command: Command, asking: Bool, _ deadline: NIODeadline, _ reply: PendingReply) {
      guard unanswered.wrappingAdd(1, ordering: .relaxed).newValue <= Self.mostUnanswered else {
        unanswered.wrappingSubtract(1, ordering: .relaxed)
        reply.complete(.failure(LarderError(.unreachable, "too many commands wait for the server")))
        return
      }
      let channel = channel
      channel.eventLoop.execute { [self] in
        // A caller that no longer waits was told that the server did not get the command. So the command is not sent.
        guard channel.isActive, reply.markSent() else {
          unanswered.wrappingSubtract(1, ordering: .relaxed)
          reply.complete(.failure(LarderError(.unreachable, "the connection has ended")))
          return
        }
        let timer = channel.eventLoop.scheduleTask(deadline: deadline) {
          reply.complete(
            .failure(
              LarderError(
                .unanswered, "the server did not answer within \(command.timeout)",
                hint: "check the server's load, or allow more time")))
        }
        let end = max(deadline, NIODeadline.now() + Self.longestSilence)
        let waiting = ReplyHandler.Waiting(reply: reply, deadline: end) { [self] in
          timer.cancel()
          unanswered.wrappingSubtract(1, ordering: .relaxed)
        }
        if asking {
          let word = Command([Array("ASKING".utf8)], timeout: command.timeout)
          let ignored = ReplyHandler.Waiting(deadline: end)
          channel.write(ReplyHandler.Outgoing(command: word, waiting: ignored), promise: nil)
        }
        let outgoing = ReplyHandler.Outgoing(command: command, waiting: waiting)
        channel.writeAndFlush(outgoing, promise: nil)
      }
    }

    func close() { channel.close(promise: nil) }
  }
#endif
