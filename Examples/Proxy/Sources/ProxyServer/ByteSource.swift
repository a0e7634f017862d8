import NIOCore

/// Keeps the bytes of a connection until a reader asks for them.
final class ByteSource: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private var context: ChannelHandlerContext?
  private var arrived: [ByteBuffer] = []
  private var waiting: CheckedContinuation<ByteBuffer?, any Error>?
  private var end: Result<ByteBuffer?, any Error>?
  /// Whether the other side must not send anything now.
  private var isSilent = false
  /// Whether the last piece was short, like a head, and not one of many pieces of a body.
  private var wasShort = false
  /// The longest piece after which the source reads another piece before a reader asks for it.
  private static let longestShort = 1 << 13
  private let held: HeldBytes
  /// The counted bytes of the last piece. The reader has these bytes until it asks for the next piece.
  private var counted = 0
  private let responder: ReadyResponder?
  /// Whether the reader waits for the beginning of a request.
  private var isAtRequest = false
  /// Whether the source reads no further request.
  private var isEnding = false
  /// Whether the end came during a ready answer, so the system may have bytes of the client that were not read.
  private(set) var endsAfterAnswer = false

  /// - Parameters:
  ///   - held: counts the bytes that the reader holds.
  ///   - responder: answers requests before a reader sees them.
  init(counting held: HeldBytes, responder: ReadyResponder? = nil) {
    self.held = held
    self.responder = responder
  }

  deinit { held.release(counted) }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  /// The next piece that has already come; nil if there is none.
  func takeArrived() -> ByteBuffer? {
    // The reader no longer uses the last piece, so its bytes do not count any more.
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
    // An upload may still wait while the connection is drained before its close. The upload fails, because it gets no bytes.
    waiting?.resume(throwing: MessageError.incomplete)
    waiting = reader
    // A channel that is not active yet would forget a call of `read`, so `channelActive` makes the call.
    if let context, context.channel.isActive { context.read() }
  }

  /// Continues after a ready answer: the reader gets the bytes or the end that came during the answer.
  func continueReading() {
    guard let reader = waiting.take() else { return }
    next(reader, isAtRequest: isAtRequest)
  }

  func channelActive(context: ChannelHandlerContext) {
    if waiting != nil { context.read() }
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    if isSilent { return finishSilence() }
    wasShort = bytes.readableBytes <= Self.longestShort
    // The system reports the end of a client together with all its bytes, also during an answer.
    if let waiting, responder?.isWriting != true {
      if isAtRequest, responder?.answer(bytes, to: self) == true { return }
      self.waiting = nil
      waiting.resume(returning: counting(bytes))
    } else {
      arrived.append(bytes)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    // The next request is read only after the client has taken the answer.
    if responder?.isWriting == true { return }
    // A read may have brought nothing, for example after an interruption, so a waiting reader needs another read. After a short
    // piece the reader soon asks for the next request: a connection that stays registered for reads saves two system calls.
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

  /// Reads no further request: the reader of a request gets no bytes, as if the other side had ended the connection. But the
  /// reader first waits for the end of a ready answer. Other reads still get the remaining bytes.
  func endAtRequest() {
    isEnding = true
    endsAfterAnswer = responder?.isWriting == true
    if isAtRequest, !endsAfterAnswer { waiting.take()?.resume(returning: nil) }
  }

  /// Fails the waiting read, or the next read.
  func timeOut() { finish(.failure(MessageError.timedOut)) }

  /// Allows reads of the remaining bytes after a read has timed out.
  func forgetTimeOut() {
    if case .failure(let error) = end, error as? MessageError == .timedOut { end = nil }
  }

  /// Begins a silence: if the other side sends bytes or ends, the connection is closed. Returns false if either has happened.
  func beginSilence() -> Bool {
    guard let context, context.channel.isActive, end == nil, arrived.isEmpty else { return false }
    count(0)
    isSilent = true
    context.read()
    return true
  }

  /// Ends the silence; returns whether nothing has come and the connection is open.
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
    // The reader would close the connection, and the client would lose the rest of a ready answer.
    if responder?.isWriting == true { return }
    waiting.take()?.resume(with: result)
  }
}
