import Larder
import NIOCore
import NIOPosix

/// One TCP connection: bytes are read when they are asked for, and at most one piece ahead, behind a short one.
struct Connection: Sendable {
  private let channel: any Channel
  private let source: NIOLoopBound<ByteSource>
  let limits: ProxyLimits
  let deadline: Deadline

  /// Makes a channel one; to be called on its event loop, while it is set up.
  init(
    settingUp channel: any Channel, limits: ProxyLimits = ProxyLimits(),
    clock: any LarderClock = SystemClock()
  ) throws {
    let source = ByteSource(on: channel.eventLoop)
    try channel.pipeline.syncOperations.addHandler(source)
    self.channel = channel
    self.source = NIOLoopBound(source, eventLoop: channel.eventLoop)
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
      guard loop.inEventLoop else {
        return try await loop.flatSubmit { source.value.next() }.get()
      }
      if let bytes = source.value.takeArrived() { return bytes }
      return try await source.value.next().get()
    } onCancel: {
      close()
    }
  }

  /// Returns when the system has taken the bytes.
  func write(_ parts: [UInt8]...) async throws {
    deadline.beginWrite()
    defer { deadline.clear(.read) }
    var short = channel.allocator.buffer(
      capacity: parts.reduce(0) { $0 + ($1.count < Self.long ? $1.count : 0) })
    try await withTaskCancellationHandler {
      for part in parts {
        if part.count < Self.long {
          short.writeBytes(part)
          continue
        }
        // The system takes several buffers in one call. A buffer of its own copies a long part once, into as many bytes.
        if short.readableBytes > 0 { channel.write(short, promise: nil) }
        short.clear()
        channel.write(ByteBuffer(bytes: part), promise: nil)
      }
      try await channel.writeAndFlush(short)
    } onCancel: {
      close()
    }
  }

  /// Bytes from which on a part is not copied together with others.
  private static let long = 1 << 14

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
      return try deadline.mayGoOn(untaken: channel.untakenBytes)
    } catch {
      // The channel is closed.
      return false
    }
  }

  /// Waits between two exchanges, in which the other side sends nothing; false if it has.
  func beginWait() async -> Bool { await onLoop { $0.beginSilence() } }

  /// Ends the wait; false if the other side has sent something, or ended the connection.
  func endWait() async -> Bool { await onLoop { $0.endSilence() } }

  private func onLoop(_ body: @escaping @Sendable (ByteSource) -> Bool) async -> Bool {
    do {
      return try await channel.eventLoop.submit { body(source.value) }.get()
    } catch {
      // The event loop has ended.
      return false
    }
  }

  /// Closes the connection at once.
  func close() { channel.close(promise: nil) }

  /// Closes the connection after the other side has had a chance to read the last answer.
  ///
  /// If bytes that were not read are lost with the connection, the system resets it, and the answer is lost, too. So what
  /// still comes is read, for a short time and up to a limit.
  func closeGracefully() async {
    deadline.begin(.seconds(2))
    defer { close() }
    do {
      try await channel.close(mode: .output)
      var count = 0
      while count < 1 << 20,
        let more = try await channel.eventLoop.flatSubmit({ source.value.drain() }).get()
      {
        count += more.readableBytes
      }
    } catch {
      // The other side is gone, or its time is over.
    }
  }
}
