import NIOCore

/// Keeps what has come until it is asked for.
final class ByteSource: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private var context: ChannelHandlerContext?
  private var arrived: [ByteBuffer] = []
  private var waiting: CheckedContinuation<ByteBuffer?, any Error>?
  private var end: Result<ByteBuffer?, any Error>?
  /// Whether nothing may come.
  private var isSilent = false
  /// Whether the last piece was short, as a head is, rather than one of many of a body.
  private var wasShort = false
  /// The longest piece behind which another is read before it is asked for.
  private static let longestShort = 1 << 13
  private let held: HeldBytes
  /// The counted bytes of the last piece, which its reader has until it asks for the next one.
  private var counted = 0
  private let responder: ReadyResponder?
  /// Whether the reader waits for the beginning of a request.
  private var isAtRequest = false
  /// Whether no other request is read.
  private var isEnding = false

  /// - Parameters:
  ///   - held: counts what its reader holds.
  ///   - responder: answers requests before a reader sees them.
  init(counting held: HeldBytes, responder: ReadyResponder? = nil) {
    self.held = held
    self.responder = responder
  }

  deinit { held.release(counted) }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  /// What has come already.
  func takeArrived() -> ByteBuffer? {
    // The reader has done with the piece before.
    count(0)
    return arrived.isEmpty ? nil : counting(arrived.removeFirst())
  }

  private func counting(_ bytes: ByteBuffer) -> ByteBuffer {
    count(bytes.readableBytes > held.smallPiece ? bytes.readableBytes : 0)
    return bytes
  }

  private func count(_ bytes: Int) {
    guard bytes != counted else { return }
    held.add(bytes - counted)
    counted = bytes
  }

  /// Resumes the reader with the next bytes, or nil at the end.
  func next(
    _ reader: CheckedContinuation<ByteBuffer?, any Error>, isAtRequest: Bool = false
  ) {
    self.isAtRequest = isAtRequest
    if let bytes = takeArrived() { return reader.resume(returning: bytes) }
    if let end { return reader.resume(with: end) }
    if isEnding, isAtRequest { return reader.resume(returning: nil) }
    // An upload still waits while its connection is drained. It has no use for what comes now.
    waiting?.resume(throwing: MessageError.incomplete)
    waiting = reader
    // A channel forgets what it is asked before it is active.
    if let context, context.channel.isActive { context.read() }
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
      if isAtRequest, responder?.answer(bytes, then: context) == true { return }
      self.waiting = nil
      waiting.resume(returning: counting(bytes))
    } else {
      arrived.append(bytes)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    // Its client takes the answer first, and the next request is read then.
    if responder?.isWriting == true { return }
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
    count(0)
    self.context = nil
  }

  /// From now on the connection ends where another request would begin, for its reader as if the other side had ended it.
  func endAtRequest() {
    isEnding = true
    guard isAtRequest, waiting != nil else { return }
    if let responder, responder.isWriting {
      responder.isLast = true
    } else {
      finish(.success(nil))
    }
  }

  /// Fails the read that waits, or the next one.
  func timeOut() { finish(.failure(MessageError.timedOut)) }

  /// After a read has failed for that reason, what still comes can be read.
  func forgetTimeOut() {
    if case .failure(let error) = end, error as? MessageError == .timedOut { end = nil }
  }

  /// From now on the connection is closed if anything comes, its end included. False if something has come.
  func beginSilence() -> Bool {
    guard let context, context.channel.isActive, end == nil, arrived.isEmpty else { return false }
    count(0)
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
    waiting?.resume(with: result)
    waiting = nil
  }
}
