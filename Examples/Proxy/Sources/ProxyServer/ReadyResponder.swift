import LarderHTTP
import NIOCore

/// Gives ready answers on the event loop of a connection, without the connection's task and without a copy of the body.
final class ReadyResponder {
  let answers: ReadyAnswers
  private let socket: ChannelSocket
  private let channel: any Channel
  private let limits: ProxyLimits
  private let deadline: Deadline
  private let held: HeldBytes
  /// Whether the responder has given an answer.
  private(set) var hasAnswered = false
  /// Whether an answer is still being written. The next request must not be read before the end of this answer.
  private(set) var isWriting = false

  init(
    _ answers: ReadyAnswers, over socket: ChannelSocket, of channel: any Channel,
    limits: ProxyLimits, deadline: Deadline, held: HeldBytes
  ) {
    self.answers = answers
    self.socket = socket
    self.channel = channel
    self.limits = limits
    self.deadline = deadline
    self.held = held
  }

  /// Answers the request in `bytes`. Returns false if the bytes are no plain request, or if no answer is ready.
  ///
  /// - Parameter source: continues to read once the client has taken the answer.
  func answer(_ bytes: ByteBuffer, to source: ByteSource) -> Bool {
    guard let (ready, head) = answers.answer(to: bytes.readableBytesUInt8Span) else { return false }
    // Bytes that the client does not take now are held. If no room is left, the task answers, because it can read the body again.
    let size = ready.bodySize > held.smallPiece ? head.count + ready.bodySize : 0
    guard size == 0 || held.reserve(size) else { return false }
    var rest: ByteBuffer?
    // After an error, the task gets the same error from its own write, and handles the error.
    let isWritten: Void? = try? ready.withBody { body in
      let taken = try socket.write(head, body)
      if taken < head.count + body.count { rest = self.rest(of: head, body, from: taken) }
    }
    guard isWritten != nil else {
      held.release(size)
      return false
    }
    hasAnswered = true
    if let rest {
      write(rest, counted: size, to: source)
    } else {
      held.release(size)
      deadline.begin(limits.idle)
    }
    answers.turn.countAnswer()
    return true
  }

  private func rest(of head: [UInt8], _ body: Span<UInt8>, from taken: Int) -> ByteBuffer {
    var rest = channel.allocator.buffer(capacity: head.count + body.count - taken)
    rest.writeBytes(head.dropFirst(taken))
    let begin = max(0, taken - head.count)
    _ = unsafe body.extracting(begin..<body.count).withUnsafeBytes { unsafe rest.writeBytes($0) }
    return rest
  }

  private func write(_ rest: ByteBuffer, counted: Int, to source: ByteSource) {
    isWriting = true
    deadline.clear(.send)
    deadline.beginWrite()
    channel.writeAndFlush(rest).assumeIsolated().whenComplete { [self] _ in
      isWriting = false
      held.release(counted)
      deadline.clear(.read)
      deadline.begin(limits.idle)
      source.continueReading()
    }
  }
}
