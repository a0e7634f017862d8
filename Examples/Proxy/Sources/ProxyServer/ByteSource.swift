import NIOCore

/// Keeps what has come until it is asked for.
final class ByteSource: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let loop: any EventLoop
  private var context: ChannelHandlerContext?
  private var arrived: [ByteBuffer] = []
  private var waiting: EventLoopPromise<ByteBuffer?>?
  private var end: Result<ByteBuffer?, any Error>?
  /// Whether nothing may come.
  private var isSilent = false
  /// Whether the last piece was short, as a head is, rather than one of many of a body.
  private var wasShort = false
  /// The longest piece behind which another is read before it is asked for.
  private static let longestShort = 1 << 13

  init(on loop: any EventLoop) { self.loop = loop }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  /// What has come already.
  func takeArrived() -> ByteBuffer? { arrived.isEmpty ? nil : arrived.removeFirst() }

  func next() -> EventLoopFuture<ByteBuffer?> {
    if let bytes = takeArrived() { return loop.makeSucceededFuture(bytes) }
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
    if isSilent { return finishSilence() }
    wasShort = bytes.readableBytes <= Self.longestShort
    if let waiting {
      self.waiting = nil
      waiting.succeed(bytes)
    } else {
      arrived.append(bytes)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    // A read may have brought nothing, as one that was interrupted does. And a connection that asks for the next request
    // at once stays registered for reading, which saves two calls of the system for each request.
    if waiting != nil || wasShort && arrived.isEmpty && end == nil { context.read() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .some(ChannelEvent.inputClosed) = event as? ChannelEvent {
      if isSilent { finishSilence() } else { finish(.success(nil)) }
    }
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

  /// Fails the read that waits, or the next one.
  func timeOut() { finish(.failure(MessageError.timedOut)) }

  /// After a failed read: reads again, to drain what still comes.
  func drain() -> EventLoopFuture<ByteBuffer?> {
    if case .failure(let error) = end, error as? MessageError == .timedOut { end = nil }
    return next()
  }

  /// From now on the connection is closed if anything comes, its end included. False if something has come.
  func beginSilence() -> Bool {
    guard let context, context.channel.isActive, end == nil, arrived.isEmpty else { return false }
    isSilent = true
    context.read()
    return true
  }

  /// Whether nothing has come.
  func endSilence() -> Bool {
    defer { isSilent = false }
    return isSilent && end == nil && context?.channel.isActive == true
  }

  private func finishSilence() {
    finish(.success(nil))
    context?.close(promise: nil)
  }

  private func finish(_ result: Result<ByteBuffer?, any Error>) {
    if end == nil { end = result }
    waiting?.completeWith(result)
    waiting = nil
  }
}
