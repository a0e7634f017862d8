#if Redis
  import Larder
  import LarderShared
  import NIOCore
  import NIOPosix
  import NIOSSL
  import Synchronization

  struct Login: Sendable {
    /// The first command of a connection, whose reply shows whether the server can be used.
    var words: [[UInt8]]
    var tls: NIOSSLContext?
  }

  /// A connection to one server. The link connects at the first command, and again after a loss. After a failed attempt to
  /// connect, commands fail immediately during a pause. The first pause is at most 50 ms, and later pauses are at most 2 s.
  final class Link: Sendable {
    private enum State {
      case idle
      /// After a failed attempt to connect, commands fail without a further attempt until this time.
      case waiting(until: ContinuousClock.Instant)
      case connecting([PendingConnection])
      case connected(Connection)
      case closed
    }

    private struct PendingConnection: Sendable {
      var command: Command
      var asking: Bool
      var deadline: NIODeadline
      var reply: PendingReply
    }

    let address: ServerAddress
    private let login: Login
    private let state = Mutex<(State, failures: Int)>((.idle, 0))

    init(_ address: ServerAddress, _ login: Login) {
      self.address = address
      self.login = login
    }

    deinit { close() }

    /// Ends the connection. Commands that wait fail, and all later commands fail, too.
    func close() {
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

    /// - Parameter asking: whether to send `ASKING`, so that the server serves a key that is moving to this server.
    func send(_ command: Command, asking: Bool) async throws(LarderError) -> Reply {
      let reply = PendingReply()
      let deadline = NIODeadline.now() + TimeAmount(min(max(command.timeout, .zero), .hours(1)))
      let pending = PendingConnection(
        command: command, asking: asking, deadline: deadline, reply: reply)
      if let connection = try admit(pending) {
        connection.send(command, asking: asking, deadline, reply)
        return try await reply.value()
      }
      // Connecting may take longer than the time limit of the command, so a timer ends the wait of the command.
      let timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(deadline: deadline) {
        [address] in
        let error = LarderError(.unreachable, "the server \(address) is being connected to")
        reply.complete(.failure(error), ifUnsent: true)
      }
      defer { timer.cancel() }
      return try await reply.value()
    }

    /// The connection. If there is no connection yet, the command waits and the result is nil.
    private func admit(_ pending: PendingConnection) throws(LarderError) -> Connection? {
      try state.withLock { state throws(LarderError) -> Connection? in
        switch state.0 {
        case .connected(let connection): return connection
        case .closed: throw closedError
        case .waiting(let until) where ContinuousClock.now < until:
          throw unreachable("the last attempt failed")
        case .connecting(var waiting):
          guard waiting.count < Connection.mostUnanswered else {
            throw unreachable("too many commands wait")
          }
          // The state then has no reference to the array, so the array is not copied.
          state.0 = .idle
          waiting.append(pending)
          state.0 = .connecting(waiting)
        case .idle, .waiting:
          state.0 = .connecting([pending])
          connect()
        }
        return nil
      }
    }

    private func connect() {
      Task { [weak self, address, login] in
        do {
          let connection = try await Connection.open(to: address, login)
          guard let self else { return connection.close() }
          opened(.success(connection))
          // Registered after `opened`, so that `lost` is called later, even if the connection has already ended.
          connection.whenClosed { [weak self] in self?.lost(connection) }
        } catch { self?.opened(.failure(error)) }
      }
    }

    private func opened(_ result: Result<Connection, any Error>) {
      // Nil: the link was closed.
      let waiting = state.withLock { state -> [PendingConnection]? in
        guard case .connecting(let waiting) = state.0 else { return nil }
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
        guard let waiting else { return connection.close() }
        for pending in waiting {
          connection.send(pending.command, asking: pending.asking, pending.deadline, pending.reply)
        }
      case .failure(let error):
        for pending in waiting ?? [] { pending.reply.complete(.failure(unreachable("\(error)"))) }
      }
    }

    private func lost(_ connection: Connection) {
      state.withLock { state in
        if case .connected(let current) = state.0, current === connection { state.0 = .idle }
      }
    }

    private var closedError: LarderError {
      LarderError(.unreachable, "the sender to \(address) was closed")
    }

    private func unreachable(_ reason: String) -> LarderError {
      LarderError(
        .unreachable, "the server \(address) cannot be reached: \(reason)",
        hint: "check the address, the password and that the server runs")
    }
  }
#endif
