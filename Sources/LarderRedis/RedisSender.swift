#if Redis
  public import Larder
  public import LarderShared
  import NIOCore
  import NIOPosix
  public import NIOSSL
  import Synchronization

  /// Sends commands to one Redis or Valkey server over one connection, which it makes at the first command and again after
  /// a loss.
  ///
  /// Commands of all tasks share the connection; the server answers them in order. A command whose time is up is abandoned:
  /// its late reply is read and dropped. After a failure to connect, further commands fail at once for a while, 50 ms at
  /// first and up to 2 s, with a random part.
  public final class RedisSender: CommandSender {
    private enum State {
      case idle
      /// Nothing is tried before that moment.
      case waiting(until: ContinuousClock.Instant)
      case connecting([PendingConnection])
      case connected(Connection)
      case closed
    }

    /// A caller that waits for the connection.
    private struct PendingConnection: Sendable {
      var command: Command
      var deadline: NIODeadline
      var reply: PendingReply
    }

    private let host: String
    private let port: Int
    /// The first command of a connection. Its reply shows that the server can be used.
    private let login: [[UInt8]]
    private let tls: NIOSSLContext?
    private let state = Mutex<(State, failures: Int)>((.idle, 0))

    /// A sender for the server at an address; connects at the first command.
    ///
    /// - Parameters:
    ///   - user: the user of the server's access control list; nil for the default user.
    ///   - password: never part of an error; nil for a server that asks for none.
    ///   - tls: nil for a connection without TLS.
    /// - Throws: `LarderError/Code/invalidArgument` for certificates or keys that cannot be read.
    public init(
      host: String, port: Int = 6379, user: String? = nil, password: String? = nil,
      tls: TLSConfiguration? = nil
    ) throws(LarderError) {
      self.host = host
      self.port = port
      let words = password.map { ["AUTH", user, $0].compactMap(\.self) } ?? ["PING"]
      login = words.map { Array($0.utf8) }
      do {
        self.tls = try tls.map { try NIOSSLContext(configuration: $0) }
      } catch {
        throw LarderError(
          .invalidArgument, "the TLS configuration for \(host) cannot be used: \(error)",
          hint: "check the paths of the certificates and the key")
      }
    }

    deinit { close() }

    /// Ends the connection. Commands that wait fail, and so does every later one.
    public func close() {
      let old = state.withLock { state in
        let old = state.0
        state.0 = .closed
        return old
      }
      switch old {
      case .connected(let connection): connection.close()
      case .connecting(let waiting):
        for pending in waiting { pending.reply.complete(.failure(closedError)) }
      case .idle, .waiting, .closed: break
      }
    }

    public func send(_ command: Command) async throws(LarderError) -> Reply {
      let reply = PendingReply()
      let deadline = NIODeadline.now() + .nanoseconds(command.timeout.nanoseconds)
      let pending = PendingConnection(command: command, deadline: deadline, reply: reply)
      let connection = try admit(pending)
      if let connection {
        connection.send(command, deadline, reply)
        return try await reply.value()
      }
      // Connecting may take longer than the caller wants to wait.
      let timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(deadline: deadline) {
        [host, port] in
        reply.failUnsent(
          LarderError(.unreachable, "the server \(host):\(port) is being connected to"))
      }
      defer { timer.cancel() }
      return try await reply.value()
    }

    /// The connection; nil if the command waits for it.
    private func admit(_ pending: PendingConnection) throws(LarderError) -> Connection? {
      let (answer, begins) = state.withLock {
        state -> (Result<Connection?, LarderError>, Bool) in
        switch state.0 {
        case .connected(let connection): return (.success(connection), false)
        case .closed: return (.failure(closedError), false)
        case .waiting(let until) where ContinuousClock.now < until:
          return (.failure(unreachable("the last attempt failed")), false)
        case .connecting(var waiting):
          guard waiting.count < Connection.mostUnanswered else {
            return (.failure(unreachable("too many commands wait")), false)
          }
          waiting.append(pending)
          state.0 = .connecting(waiting)
          return (.success(nil), false)
        case .idle, .waiting:
          state.0 = .connecting([pending])
          return (.success(nil), true)
        }
      }
      if begins { connect() }
      return try answer.get()
    }

    private func connect() {
      Connection.open(
        host: host, port: port, tls: tls, login: login,
        onClose: { [weak self] in self?.lost($0) },
        completion: { [weak self] result in
          if let self {
            opened(result)
          } else if case .success(let connection) = result {
            connection.close()
          }
        })
    }

    private func opened(_ result: Result<Connection, ConnectionError>) {
      var isClosed = false
      let waiting = state.withLock { state -> [PendingConnection] in
        guard case .connecting(let waiting) = state.0 else {
          isClosed = true
          return []
        }
        switch result {
        case .success(let connection): state = (.connected(connection), 0)
        case .failure:
          let failures = min(state.failures + 1, 7)
          let pause = min(Duration.milliseconds(25 << failures), .seconds(2))
          let part = Double.random(in: 0.5...1)
          state = (.waiting(until: ContinuousClock.now + pause * part), failures)
        }
        return waiting
      }
      switch result {
      case .success(let connection):
        if isClosed { connection.close() }
        for pending in waiting {
          connection.send(pending.command, pending.deadline, pending.reply)
        }
      case .failure(let error):
        for pending in waiting { pending.reply.complete(.failure(unreachable(error.reason))) }
      }
    }

    private func lost(_ connection: Connection) {
      state.withLock { state in
        if case .connected(let current) = state.0, current === connection { state.0 = .idle }
      }
    }

    private var closedError: LarderError {
      LarderError(.unreachable, "the sender to \(host):\(port) was closed")
    }

    private func unreachable(_ reason: String) -> LarderError {
      LarderError(
        .unreachable, "the server \(host):\(port) cannot be reached: \(reason)",
        hint: "check the address, the password and that the server runs")
    }
  }

  extension Duration {
    /// For NIO's deadlines; cut to an hour.
    var nanoseconds: Int64 {
      let bounded = min(max(self, .zero), .seconds(3600))
      return bounded.components.seconds * 1_000_000_000
        + bounded.components.attoseconds / 1_000_000_000
    }
  }
#endif
