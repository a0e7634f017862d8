import NIOCore
import NIOPosix

/// One TCP connection: bytes are read when they are asked for, and not before.
struct Connection: Sendable {
  private let channel: any Channel
  private let source: NIOLoopBound<ByteSource>

  /// Makes a channel one; to be called on its event loop, while it is set up.
  init(settingUp channel: any Channel) throws {
    let source = ByteSource(on: channel.eventLoop)
    try channel.pipeline.syncOperations.addHandler(source)
    self.channel = channel
    self.source = NIOLoopBound(source, eventLoop: channel.eventLoop)
  }

  static func connect(
    to address: Address, on group: any EventLoopGroup
  ) async throws -> Connection {
    try await ClientBootstrap(group: group)
      .channelOption(.autoRead, value: false)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .connect(host: address.host, port: address.port) { channel in
        channel.eventLoop.makeCompletedFuture { try Connection(settingUp: channel) }
      }
  }

  /// The next bytes; nil when the other side has ended.
  func read() async throws -> ByteBuffer? {
    try await withTaskCancellationHandler {
      try await channel.eventLoop.flatSubmit { source.value.next() }.get()
    } onCancel: {
      close()
    }
  }

  func write(_ bytes: [UInt8]) async throws {
    try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
  }

  func close() { channel.close(promise: nil) }
}

/// Where a server is, or is to be.
public struct Address: Sendable, Hashable, CustomStringConvertible {
  public var host: String
  public var port: Int

  public init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// Reads `host:port`, the host in brackets if it is an IPv6 address.
  public init?(_ text: some StringProtocol) {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
      (0...65_535).contains(port), colon > text.startIndex
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    self.init(host: String(host), port: port)
  }

  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Keeps what has come until it is asked for.
private final class ByteSource: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let loop: any EventLoop
  private var context: ChannelHandlerContext?
  private var arrived: [ByteBuffer] = []
  private var waiting: EventLoopPromise<ByteBuffer?>?
  private var end: Result<ByteBuffer?, any Error>?

  init(on loop: any EventLoop) { self.loop = loop }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func next() -> EventLoopFuture<ByteBuffer?> {
    if !arrived.isEmpty { return loop.makeSucceededFuture(arrived.removeFirst()) }
    if let end { return loop.makeCompletedFuture(end) }
    let promise = loop.makePromise(of: ByteBuffer?.self)
    waiting = promise
    // A channel forgets what it is asked before it is active.
    if let context, context.channel.isActive { context.read() }
    return promise.futureResult
  }

  func channelActive(context: ChannelHandlerContext) {
    if waiting != nil { context.read() }
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    if let waiting {
      self.waiting = nil
      waiting.succeed(bytes)
    } else {
      arrived.append(bytes)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    // A read may have brought nothing, as one that was interrupted does.
    if waiting != nil { context.read() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .some(ChannelEvent.inputClosed) = event as? ChannelEvent { finish(.success(nil)) }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) { finish(.success(nil)) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    finish(.failure(error))
    context.close(promise: nil)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    finish(.success(nil))
    self.context = nil
  }

  private func finish(_ result: Result<ByteBuffer?, any Error>) {
    if end == nil { end = result }
    waiting?.completeWith(result)
    waiting = nil
  }
}
