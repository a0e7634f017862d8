import Larder
import NIOCore
import NIOPosix

/// One TCP connection: bytes are read when they are asked for, and at most one piece ahead, behind a short one.
struct Connection: Sendable {
  private let channel: any Channel
  private let source: NIOLoopBound<ByteSource>
  private let socket: NIOLoopBound<ChannelSocket>
  let limits: ProxyLimits
  let deadline: Deadline

  /// Makes a channel one; to be called on its event loop, while it is set up.
  init(
    settingUp channel: any Channel, limits: ProxyLimits = ProxyLimits(),
    clock: any LarderClock = SystemClock()
  ) throws {
    let source = ByteSource()
    try channel.pipeline.syncOperations.addHandler(source)
    self.channel = channel
    self.source = NIOLoopBound(source, eventLoop: channel.eventLoop)
    socket = NIOLoopBound(ChannelSocket(of: channel), eventLoop: channel.eventLoop)
    self.limits = limits
    deadline = Deadline(clock, write: limits.write)
  }

  static func connect(
    to address: Address, on group: any EventLoopGroup
  ) async throws -> Connection {
    try await ClientBootstrap(group: group)
      .channelOption(.autoRead, value: false)
      .channelOption(.maxMessagesPerRead, value: 1)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .connect(host: address.host, port: address.port) { channel in
        channel.eventLoop.makeCompletedFuture { try Connection(settingUp: channel) }
      }
  }

  /// The next bytes, at most 64 KB; nil when the other side has ended.
  func read() async throws -> ByteBuffer? {
    try await withTaskCancellationHandler {
      let loop = channel.eventLoop
      if loop.inEventLoop, let bytes = source.value.takeArrived() { return bytes }
      return try await withCheckedThrowingContinuation { reader in
        if loop.inEventLoop {
          source.value.next(reader)
        } else {
          loop.execute { source.value.next(reader) }
        }
      }
    } onCancel: {
      close()
    }
  }

  /// Returns when the system has taken the bytes. One task at a time writes to a connection.
  func write(_ first: [UInt8], _ second: [UInt8] = []) async throws {
    let isOnLoop = channel.eventLoop.inEventLoop
    let taken = isOnLoop ? try socket.value.write(first, second) : 0
    if taken == first.count + second.count { return }
    deadline.beginWrite()
    defer { deadline.clear(.read) }
    var rest = channel.allocator.buffer(capacity: first.count + second.count - taken)
    rest.writeBytes(first.dropFirst(taken))
    rest.writeBytes(second.dropFirst(max(0, taken - first.count)))
    try await withTaskCancellationHandler {
      try await channel.writeAndFlush(rest)
    } onCancel: {
      close()
    }
  }

  /// Ends a connection whose other side is too slow: reading fails with ``MessageError/timedOut``, which can be answered; a
  /// client that has taken nothing since the last look is disconnected.
  func timeOut(_ subject: Deadline.Subject) {
    channel.eventLoop.execute {
      switch subject {
      case .send: source.value.timeOut()
      case .read: if !hasTakenSome { close() }
      }
    }
  }

  private var hasTakenSome: Bool {
    do {
      return try deadline.mayGoOn(untaken: socket.value.untakenBytes)
    } catch {
      // The channel is closed.
      return false
    }
  }

  /// Waits between two exchanges, in which the other side sends nothing; false if it has.
  func beginWait() async -> Bool { await onLoop { $0.beginSilence() } == true }

  /// Ends the wait; false if the other side has sent something, or ended the connection.
  func endWait() async -> Bool { await onLoop { $0.endSilence() } == true }

  /// Nil if the event loop has ended.
  private func onLoop<Result: Sendable>(
    _ body: @escaping @Sendable (ByteSource) -> Result
  ) async -> Result? {
    do {
      return try await channel.eventLoop.submit { body(source.value) }.get()
    } catch {
      return nil
    }
  }

  /// Closes the connection at once.
  func close() { channel.close(promise: nil) }

  /// Closes the connection after the other side has had a chance to read the last answer.
  ///
  /// If bytes that were not read are lost with the connection, the system resets it, and the answer is lost, too. So what
  /// still comes is read, for a short time and up to a limit.
  func closeGracefully() async {
    await onLoop { $0.forgetTimeOut() }
    deadline.begin(.seconds(2))
    defer { close() }
    do {
      try await channel.close(mode: .output)
      var count = 0
      while count < 1 << 20, let more = try await read() { count += more.readableBytes }
    } catch {
      // The other side is gone, or its time is over.
    }
  }
}
