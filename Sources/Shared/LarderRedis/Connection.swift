#if Redis
  import Larder
  import LarderShared
  import NIOCore
  import NIOPosix
  import NIOSSL
  import Synchronization

  struct ConnectionError: Error { var reason: String }

  /// One connection to a server. Only `send` and `close` may be called outside of the connection's event loop.
  final class Connection: Sendable {
    /// The most commands that wait for their replies; further commands are refused.
    static let mostUnanswered = 10_000
    private static let connectTimeout = TimeAmount.seconds(2)
    /// If the server sends less than 16 kB in this time, and the oldest command's deadline has passed, the connection is closed.
    static let longestSilence = TimeAmount.seconds(2)

    private let channel: any Channel
    private let unanswered = Atomic(0)

    private init(_ channel: any Channel) { self.channel = channel }

    /// Connects and logs in. Calls `onClose` once, when the connection that `completion` received has ended.
    static func open(
      to address: ServerAddress, _ login: Login,
      onClose: @escaping @Sendable (Connection) -> Void,
      completion: @escaping @Sendable (Result<Connection, ConnectionError>) -> Void
    ) {
      ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
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
        }
        .connect(host: address.host, port: address.port)
        .whenComplete { result in
          switch result {
          case .failure(let error):
            completion(.failure(ConnectionError(reason: "\(error)")))
          case .success(let channel):
            let connection = Connection(channel)
            connection.logIn(login.words) { reason in
              if let reason {
                connection.close()
                completion(.failure(ConnectionError(reason: reason)))
              } else {
                completion(.success(connection))
                // Registered after `completion`, so that `onClose` is called later, even if the connection has already ended.
                channel.closeFuture.whenComplete { _ in onClose(connection) }
              }
            }
          }
        }
    }

    private func logIn(_ words: [[UInt8]], _ completion: @escaping @Sendable (String?) -> Void) {
      let reply = PendingReply()
      send(Command(words, timeout: .seconds(2)), asking: false, .now() + .seconds(2), reply)
      Task {
        do throws(LarderError) {
          switch try await reply.value() {
          case .bytes: completion(nil)
          // A foreign server could send any text, such as the password, so no message of the server is shown.
          default: completion("the server refused the user or password, or asks for one")
          }
        } catch {
          completion("the server did not answer the login: \(error.message)")
        }
      }
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
          let ignored = ReplyHandler.Waiting(reply: PendingReply(), deadline: end, finish: {})
          channel.write(ReplyHandler.Outgoing(bytes: word.encoded, waiting: ignored), promise: nil)
        }
        channel.writeAndFlush(
          ReplyHandler.Outgoing(bytes: command.encoded, waiting: waiting), promise: nil)
      }
    }

    func close() { channel.close(promise: nil) }
  }
#endif
