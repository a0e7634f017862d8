#if Redis
  import Larder
  import LarderShared
  import NIOCore

  /// Writes commands, and gives each reply to the command that has waited longest.
  final class ReplyHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Outgoing
    typealias OutboundOut = ByteBuffer

    struct Outgoing: Sendable {
      var command: Command
      var waiting: Waiting
    }

    /// A command that was sent and has no reply yet. The command keeps its place, even if its caller does not wait any more.
    struct Waiting: Sendable {
      var reply = PendingReply()
      var deadline: NIODeadline
      /// Called once, when the command's place is free.
      var finish: @Sendable () -> Void = {}
    }

    private var parser = RESPParser()
    private var waiting = CircularBuffer<Waiting>()
    private var watch: RepeatedTask?
    private var lastWrite = NIODeadline.now()
    private var lastRead = NIODeadline.now()
    private var bytesSinceLastRead = 0
    private let longestRest: TimeAmount

    /// - Parameter longestRest: after this time without a command, the handler itself sends a command.
    init(longestRest: TimeAmount = .minutes(1)) { self.longestRest = longestRest }

    /// Closes the connection if the server is silent or slow for too long, so that the next command connects again.
    func channelActive(context: ChannelHandlerContext) {
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      watch = context.eventLoop.scheduleRepeatedTask(
        initialDelay: .milliseconds(500), delay: .milliseconds(500)
      ) { _ in
        let (handler, context) = bound.value
        guard let oldest = handler.waiting.first else { return handler.askAfterRest(context) }
        if NIODeadline.now() > max(oldest.deadline, handler.lastRead + Connection.longestSilence) {
          context.close(promise: nil)
        }
      }
      context.fireChannelActive()
    }

    /// Asks for the time. If a router has dropped the idle connection, the missing reply ends the connection before its next use.
    private func askAfterRest(_ context: ChannelHandlerContext) {
      guard NIODeadline.now() > lastWrite + longestRest else { return }
      let command = Command([Array("TIME".utf8)], timeout: .zero)
      let ignored = Waiting(deadline: .now() + Connection.longestSilence)
      context.channel.writeAndFlush(Outgoing(command: command, waiting: ignored), promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      let outgoing = unwrapOutboundIn(data)
      lastWrite = .now()
      waiting.append(outgoing.waiting)
      let bytes = context.channel.allocator.buffer(bytes: outgoing.command.encoded)
      context.write(wrapOutboundOut(bytes), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = unwrapInboundIn(data).readableBytesView
      bytesSinceLastRead += bytes.count
      // Fewer bytes count as silence, because a hostile server could send single bytes for ever.
      if bytesSinceLastRead >= 16_384 { (lastRead, bytesSinceLastRead) = (.now(), 0) }
      parser.append(bytes)
      do {
        while let reply = try parser.next() {
          guard let first = waiting.popFirst() else {
            throw ProtocolError(reason: "a reply without a command")
          }
          first.finish()
          first.reply.complete(.success(reply))
        }
      } catch {
        // After invalid bytes, the handler cannot find the start of the next reply, so the connection is closed.
        context.close(promise: nil)
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
      watch?.cancel()
      watch = nil
      while let next = waiting.popFirst() {
        next.finish()
        next.reply.complete(
          .failure(LarderError(.unanswered, "the connection ended before the reply")))
      }
      context.fireChannelInactive()
    }
  }
#endif
