import HTTPTypes
import Larder
import LarderHTTP
import NIOCore
import NIOPosix

/// One TCP connection: bytes are read when they are asked for, and at most one piece ahead, behind a short one.
struct Connection: Sendable {
  let channel: any Channel
  private let source: NIOLoopBound<ByteSource>
  private let socket: NIOLoopBound<ChannelSocket>
  let limits: ProxyLimits
  let deadline: Deadline
  /// What is held for slow readers, of all connections.
  let held: HeldBytes
  private let ready: NIOLoopBound<ReadyResponder>?

  /// Makes a channel one; to be called on its event loop, while it is set up.
  ///
  /// - Parameter ready: answers that the connection may give on its event loop.
  init(
    settingUp channel: any Channel, limits: ProxyLimits = ProxyLimits(),
    clock: any LarderClock = SystemClock(), held: HeldBytes? = nil, ready: ReadyAnswers? = nil
  ) throws {
    let held = held ?? HeldBytes(limits)
    let socket = ChannelSocket(of: channel)
    let deadline = Deadline(clock, write: limits.write)
    let responder = ready.map {
      ReadyResponder($0, over: socket, of: channel, limits: limits, deadline: deadline, held: held)
    }
    let source = ByteSource(counting: held, responder: responder)
    try channel.pipeline.syncOperations.addHandler(source)
    self.channel = channel
    self.source = NIOLoopBound(source, eventLoop: channel.eventLoop)
    self.socket = NIOLoopBound(socket, eventLoop: channel.eventLoop)
    self.limits = limits
    self.deadline = deadline
    self.held = held
    self.ready = responder.map { NIOLoopBound($0, eventLoop: channel.eventLoop) }
  }

  static func connect(
    to address: Address, on group: any EventLoopGroup, held: HeldBytes? = nil
  ) async throws -> Connection {
    let held = held ?? HeldBytes(ProxyLimits())
    return try await ClientBootstrap(group: group)
      .channelOption(.autoRead, value: false)
      .channelOption(.maxMessagesPerRead, value: 1)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .channelOption(.recvAllocator, value: ReceiveBuffers(held))
      .connect(host: address.host, port: address.port) { channel in
        channel.eventLoop.makeCompletedFuture { try Connection(settingUp: channel, held: held) }
      }
  }

  /// Whether requests were answered on the event loop.
  var hasAnswered: Bool { channel.eventLoop.inEventLoop && ready?.value.hasAnswered == true }

  /// Keeps the answer to a hit ready for the next plain request like it.
  func keepReady(_ request: HTTPRequest, _ head: MessageHead, from cache: HTTPCache) {
    guard let ready, channel.eventLoop.inEventLoop else { return }
    ready.value.answers.keep(request, head.bytes, from: cache)
  }

  /// The next bytes, at most 64 KB; nil when the other side has ended.
  ///
  /// - Parameter isAtRequest: whether they begin a request, which may be answered on the event loop instead.
  func read(isAtRequest: Bool = false) async throws -> ByteBuffer? {
    try await withTaskCancellationHandler {
      let loop = channel.eventLoop
      if loop.inEventLoop, let bytes = source.value.takeArrived() { return bytes }
      return try await withCheckedThrowingContinuation { reader in
        if loop.inEventLoop {
          source.value.next(reader, isAtRequest: isAtRequest)
        } else {
          loop.execute { source.value.next(reader, isAtRequest: isAtRequest) }
        }
      }
    } onCancel: {
      close()
    }
  }

  /// Returns when the system has taken the bytes. One task at a time writes to a connection.
  func write(_ first: [UInt8], _ second: [UInt8] = []) async throws {
    let taken = try writeSome(first, second)
    let left = first.count + second.count - taken
    if left > 0 { try await write(rest(of: first, second, from: taken, count: left)) }
  }

  /// Writes what the system takes at once, and returns the number of bytes.
  func writeSome(_ first: [UInt8], _ second: [UInt8]) throws -> Int {
    channel.eventLoop.inEventLoop ? try socket.value.write(first, second.span) : 0
  }

  /// Bytes that the system has not taken at once, for ``write(_:)``.
  func rest(of first: [UInt8], _ second: [UInt8], from taken: Int, count: Int) -> ByteBuffer {
    var rest = channel.allocator.buffer(capacity: count)
    rest.writeBytes(first.dropFirst(taken).prefix(count))
    rest.writeBytes(
      second.dropFirst(max(0, taken - first.count)).prefix(count - rest.readableBytes))
    return rest
  }

  /// Returns when the system has taken the bytes, within the time that the other side has for it.
  func write(_ rest: ByteBuffer) async throws {
    deadline.beginWrite()
    defer { deadline.clear(.read) }
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

  /// Bytes that wait here until the other side takes more; 0 for a connection that has ended.
  func waitingBytes() async -> Int {
    do {
      return try await channel.getOption(.bufferedWritableBytes).get()
    } catch {
      return 0
    }
  }

  /// Ends the connection between two requests: now, or after the answer to the one that is under way.
  func endAtRequest() { channel.eventLoop.execute { source.value.endAtRequest() } }

  /// Waits for the end of the connection.
  func waitForEnd() async {
    do {
      try await channel.closeFuture.get()
    } catch {
      // It ends, too, if closing fails.
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
