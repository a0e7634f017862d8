import HTTPTypes
import Larder
import LarderHTTP
import NIOCore
import NIOPosix

/// One TCP connection, which reads bytes when a reader asks for them, and after a short piece even before that.
struct Connection: Sendable {
  let channel: any Channel
  private let source: NIOLoopBound<ByteSource>
  private let socket: NIOLoopBound<ChannelSocket>
  let limits: ProxyLimits
  let deadline: Deadline
  /// The bytes held for slow readers of all connections.
  let held: HeldBytes
  private let ready: NIOLoopBound<ReadyResponder>?

  /// Makes a connection of a channel. Call it on the channel's event loop, while the channel is set up.
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

  /// Whether the event loop has answered requests of this connection.
  var hasAnswered: Bool { channel.eventLoop.inEventLoop && ready?.value.hasAnswered == true }

  var endsAfterAnswer: Bool { channel.eventLoop.inEventLoop && source.value.endsAfterAnswer }

  /// Keeps the answer to a hit, ready for the next equal request without a body.
  func keepReady(_ request: HTTPRequest, _ head: MessageHead, from cache: HTTPCache) {
    guard let ready, channel.eventLoop.inEventLoop else { return }
    ready.value.answers.keep(request, head.bytes, from: cache)
  }

  /// The next bytes, at most 64 KB; nil when the other side has ended the connection.
  ///
  /// - Parameter isAtRequest: whether a request begins here. If the event loop answers the request, reads the next request.
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

  /// Writes bytes, and returns when the system has taken them. Only one task at a time may write to a connection.
  func write(_ first: [UInt8], _ second: [UInt8] = []) async throws {
    let taken = try writeSome(first, second)
    let left = first.count + second.count - taken
    if left > 0 { try await write(rest(of: first, second, from: taken, count: left)) }
  }

  /// Writes as many bytes as the system takes now, and returns their number: 0 outside of the event loop.
  func writeSome(_ first: [UInt8], _ second: [UInt8]) throws -> Int {
    channel.eventLoop.inEventLoop ? try socket.value.write(first, second.span) : 0
  }

  /// The bytes that the system has not taken yet, for ``write(_:)``.
  func rest(of first: [UInt8], _ second: [UInt8], from taken: Int, count: Int) -> ByteBuffer {
    var rest = channel.allocator.buffer(capacity: count)
    rest.writeBytes(first.dropFirst(taken).prefix(count))
    rest.writeBytes(
      second.dropFirst(max(0, taken - first.count)).prefix(count - rest.readableBytes))
    return rest
  }

  /// Writes the rest, and returns when the system has taken the bytes. The other side has a time limit to take them.
  func write(_ rest: ByteBuffer) async throws {
    deadline.beginWrite()
    defer { deadline.clear(.read) }
    try await withTaskCancellationHandler {
      try await channel.writeAndFlush(rest)
    } onCancel: {
      close()
    }
  }

  /// Ends a connection whose other side is too slow. A read fails with ``MessageError/timedOut``, which an answer can report;
  /// a client that has taken nothing since the last look is disconnected.
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
      // The channel is already closed.
      return false
    }
  }

  /// Begins a wait in which the other side must send nothing. Returns false if the other side has sent something or ended.
  func beginWait() async -> Bool { await onLoop { $0.beginSilence() } == true }

  /// Ends the wait. Returns false if the other side has sent something, or ended the connection.
  func endWait() async -> Bool { await onLoop { $0.endSilence() } == true }

  /// The result of `body` on the event loop; nil if the event loop has ended.
  private func onLoop<Result: Sendable>(
    _ body: @escaping @Sendable (ByteSource) -> Result
  ) async -> Result? {
    do {
      return try await channel.eventLoop.submit { body(source.value) }.get()
    } catch {
      return nil
    }
  }

  /// The number of bytes that wait here until the other side takes more; 0 after the end of the connection.
  func waitingBytes() async -> Int {
    (try? await channel.getOption(.bufferedWritableBytes).get()) ?? 0
  }

  /// Ends the connection between two requests: now, or after the answer to a request under way.
  func endAtRequest() { channel.eventLoop.execute { source.value.endAtRequest() } }

  /// Waits for the end of the connection, which also ends if its close fails.
  func waitForEnd() async { try? await channel.closeFuture.get() }

  /// Closes the connection immediately.
  func close() { channel.close(promise: nil) }

  /// Closes the connection after the other side has had a chance to read the last answer.
  ///
  /// If a connection is closed with unread bytes, the system resets the connection, and the answer is lost, too. So this call
  /// first reads the remaining bytes, for a short time and up to a limit.
  func closeGracefully() async {
    await onLoop { $0.forgetTimeOut() }
    deadline.begin(.seconds(2))
    defer { close() }
    do {
      try await channel.close(mode: .output)
      var count = 0
      while count < 1 << 20, let more = try await read() { count += more.readableBytes }
    } catch {
      // The other side is gone, or the deadline has passed.
    }
  }
}
