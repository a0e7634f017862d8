import Foundation
import Larder
import LarderShared
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import LarderRedis

/// Servers that send wrong bytes: each command fails in time, and no connection takes much memory.
@Suite struct HostileServerTests {
  @Test(arguments: [
    "HTTP/1.1 400 Bad Request\r\n\r\n", "$99999999999999999999\r\n", "$-7\r\n", "*9999999\r\n",
    "$67108864\r\nx", ":\r\n", "+OK\r\n+OK\r\n+OK\r\n", "*2\r\n*2\r\n*2\r\n",
    "\u{0}\u{0}\u{0}\u{0}", "-MOVED 1 nowhere:99999\r\n", "-MOVED x\r\n", "-ASK\r\n", "-\r\n", "",
  ])
  func wrongBytesFailTheCommand(_ text: String) async throws {
    let server = try await HostileServer { _ in text }
    let sender = try RedisSender(host: "127.0.0.1", port: server.port)
    for _ in 0..<3 {
      do throws(LarderError) {
        // Some of these texts are valid replies, so the command may succeed.
        _ = try await sender.send(
          Command([Array("GET".utf8), [1]], timeout: .milliseconds(200)))
      } catch {
        #expect([.unreachable, .unanswered].contains(error.code))
      }
    }
    try await server.close()
  }

  /// The server answers the login, and answers each command with the address of a server that does not exist.
  @Test(arguments: ["ASK", "MOVED"])
  func aServerThatNamesEverOtherServersFillsNoMemory(_ word: String) async throws {
    let count = Atomic(0)
    let server = try await HostileServer { text in
      if text.contains("PING") { return "+PONG\r\n" }
      let number = count.add(1, ordering: .relaxed).newValue
      return "-\(word) 1 127.66.0.\(number % 250 + 1):1\r\n"
    }
    let sender = try RedisSender(host: "127.0.0.1", port: server.port)
    while count.load(ordering: .relaxed) < 25 {
      await #expect(throws: LarderError.self) {
        try await sender.send(Command([Array("GET".utf8), [1]], timeout: .seconds(5)))
      }
    }
    #expect(sender.serverCount <= 18)
    try await server.close()
  }

  @Test func aConnectionWithoutCommandsIsTested() async throws {
    let questions = Atomic(0)
    let server = try await HostileServer { text in
      if text.contains("TIME") { questions.add(1, ordering: .relaxed) }
      return "*0\r\n"
    }
    let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ReplyHandler(longestRest: .zero))
        }
      }
      .connect(host: "127.0.0.1", port: server.port).get()
    try await poll { questions.load(ordering: .relaxed) > 0 }
    try await client.close()
    try await server.close()
  }

  @Test func aServerThatLoadsItsDataIsLeft() async throws {
    let replies = ["-LOADING the dataset is loaded", "+second"]
    #expect(try await answer(of: replies) == .bytes(Array("second".utf8)))
  }

  /// The answer of two servers that accept the login, and give these replies to other commands.
  private func answer(of replies: [String]) async throws -> Reply {
    var servers: [HostileServer] = []
    for reply in replies {
      servers.append(
        try await HostileServer { $0.contains("PING") ? "+PONG\r\n" : reply + "\r\n" })
    }
    let sender = try RedisSender(
      host: "127.0.0.1", port: servers[0].port,
      others: [ServerAddress("127.0.0.1", servers[1].port)])
    let answer = try await sender.send("SET", "a")
    for server in servers { try await server.close() }
    return answer
  }

  /// A connection may end just after its login. If the link missed this end, the ended connection would stay in use.
  @Test func aConnectionThatEndsAfterItsLoginIsReplaced() async throws {
    let logins = Atomic(0)
    let server = try await HostileServer(closes: true) { _ in
      logins.add(1, ordering: .relaxed)
      return "+PONG\r\n"
    }
    let sender = try RedisSender(host: "127.0.0.1", port: server.port)
    try await poll {
      _ = try? await sender.send("GET", "a")
      return logins.load(ordering: .relaxed) >= 3
    }
    try await server.close()
  }

  @Test func twoServersThatRefuseWritesAreAskedOnceAndThenTheFirstAgain() async throws {
    let replies = Array(repeating: "-READONLY You can't write", count: 2)
    #expect(try await answer(of: replies) == .failure("READONLY You can't write"))
  }

  /// The reply comes byte by byte and never ends. The caller stops waiting at its time limit, and the connection is closed.
  @Test func aReplyThatTricklesInIsGivenUp() async throws {
    let server = try await HostileServer(trickles: true) { text in
      text.contains("PING") ? "+PONG\r\n" : "$1000000\r\n"
    }
    let sender = try RedisSender(host: "127.0.0.1", port: server.port)
    // Connects first. On a busy machine the connection takes longer than the 300 ms of the next command.
    _ = try await sender.send("PING")
    let error = await #expect(throws: LarderError.self) {
      try await sender.send(Command([Array("GET".utf8), [1]], timeout: .milliseconds(300)))
    }
    #expect(error?.code == .unanswered)
    try await poll { server.ended >= 1 }
    try await server.close()
  }
}

/// Answers all bytes with a text.
private final class HostileServer: Sendable {
  let port: Int
  private let channel: any Channel
  private let counter: Counter

  /// The number of connections that the client has ended.
  var ended: Int { counter.ended.load(ordering: .relaxed) }

  final class Counter: Sendable {
    let ended = Atomic(0)
  }

  init(
    trickles: Bool = false, closes: Bool = false, _ answer: @escaping @Sendable (String) -> String
  ) async throws {
    let counter = Counter()
    self.counter = counter
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            Handler(answer: answer, trickles: trickles, closes: closes, counter: counter))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = channel.localAddress?.port ?? 0
  }

  func close() async throws { try await channel.close() }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let answer: @Sendable (String) -> String
    let trickles: Bool
    let closes: Bool
    let counter: Counter

    init(
      answer: @escaping @Sendable (String) -> String, trickles: Bool, closes: Bool, counter: Counter
    ) {
      self.answer = answer
      self.closes = closes
      self.trickles = trickles
      self.counter = counter
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let text = answer(String(buffer: unwrapInboundIn(data)))
      if text.isEmpty { return context.close(promise: nil) }
      write(text, context)
      if closes { return context.close(promise: nil) }
      guard trickles, text.hasPrefix("$") else { return }
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      context.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(10)) {
        task in
        let (handler, context) = bound.value
        guard context.channel.isActive else { return task.cancel() }
        handler.write("x", context)
      }
    }

    func channelInactive(context: ChannelHandlerContext) {
      counter.ended.add(1, ordering: .relaxed)
    }

    private func write(_ text: String, _ context: ChannelHandlerContext) {
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }
  }
}
