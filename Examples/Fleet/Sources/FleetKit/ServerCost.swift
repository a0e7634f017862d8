import Foundation
import Larder
import LarderRedis
import LarderShared
import NIOCore
import NIOPosix
import Synchronization

/// The processor time in which the server notifies many machines of a change: by the log, or by Redis's own client tracking.
///
/// The server itself reports the time, so the work of this program, which plays the machines, does not count.
public enum ServerCost {
  private static let time = Duration.seconds(10)
  private static let options = SharedOptions(readTimeout: .seconds(30), writeTimeout: .seconds(30))

  /// Prints the server's processor time for each change and machine, with the log and with tracking, and the ratio of the two.
  public static func run(machines: Int, changes: Int) async throws {
    let log = try await cost("log", machines, changes, looks: true) { LogHandler($0, after: $1) }
    let tracking = try await cost("tracking", machines, changes, looks: false) { machine, _ in
      TrackingHandler(machine)
    }
    print("log / tracking:", String(format: "%.2f (goal 0.6)", log / tracking))
  }

  /// - Parameter looks: whether each machine reads the head of the log twice a second, like the reader of a log.
  private static func cost(
    _ name: String, _ count: Int, _ changes: Int, looks: Bool,
    _ handler: @escaping @Sendable (CountingMachine, Position) -> any ChannelHandler
  ) async throws -> Double {
    let server = try await RedisServer(["maxclients 10000"])
    let tier = try StreamTier(server.sender(), application: "test", options: options)
    let value = TierValue(frame: [7], lifetime: .minutes(10), tags: [])
    let first = try await tier.newestRecord().position
    let machines = (0..<count).map { _ in CountingMachine() }
    for machine in machines { try await machine.connect(to: server.port, first, handler) }
    let looking = Task {
      let start = ContinuousClock.now
      var made = 0
      while looks, !Task.isCancelled {
        _ = try await tier.look(at: first)
        made += 1
        try await Task.sleep(until: start + .milliseconds(500) / count * made)
      }
    }
    defer { looking.cancel() }
    try await Task.sleep(for: .seconds(1))
    let administrator = try server.sender()
    let (before, begin) = (try await processorTime(administrator), ContinuousClock.now)
    let made = Int(time / .seconds(1)) * changes
    try await withThrowingTaskGroup { group in
      for index in 0..<made {
        // The changes have a fixed rate, so their number does not depend on the speed of the server.
        let key = SharedKey(namespace: "n", bytes: Array("key-\(index)".utf8))
        group.addTask { _ = try await tier.change(.set(key, value)) }
        try await Task.sleep(until: begin + .seconds(1) / changes * (index + 1))
      }
      try await group.waitForAll()
    }
    // Waits for the last changes to arrive.
    for _ in 0..<1000 where machines.contains(where: { $0.seen < made }) {
      try await Task.sleep(for: .milliseconds(10))
    }
    let spent = try await processorTime(administrator) - before
    let each = spent / Double(made * count) * 1_000_000
    let seen = machines.map(\.seen).reduce(0, +)
    let answers = machines.map { $0.answers.load(ordering: .relaxed) }.reduce(0, +)
    print(
      "\(name), \(count) machines:", String(format: "%.1f us", each),
      "for each change and machine; \(made) changes, \(seen) of \(made * count) seen,",
      "\(answers) answers")
    return each
  }

  private static func processorTime(_ sender: RedisSender) async throws -> Double {
    let info = String(decoding: try await sender.run("INFO", "cpu").bytes ?? [], as: UTF8.self)
    return info.split(whereSeparator: \.isNewline).reduce(0) { sum, line in
      line.hasPrefix("used_cpu_sys:") || line.hasPrefix("used_cpu_user:")
        ? sum + (Double(line.split(separator: ":")[1]) ?? 0) : sum
    }
  }
}

/// A machine that counts the changes that the server reports. Hundreds of these machines take little processor time.
private final class CountingMachine: Sendable {
  let changes = Atomic(0)
  /// The number of messages about changes.
  let answers = Atomic(0)
  private let channel = Mutex<(any Channel)?>(nil)

  var seen: Int { changes.load(ordering: .relaxed) }

  func connect(
    to port: Int, _ first: Position,
    _ handler: @escaping @Sendable (CountingMachine, Position) -> any ChannelHandler
  ) async throws {
    let opened = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(handler(self, first))
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
    channel.withLock { $0 = opened }
  }

  deinit { channel.withLock { $0?.close(promise: nil) } }
}

extension ChannelInboundHandler where OutboundOut == ByteBuffer {
  fileprivate func send(_ text: String, _ context: ChannelHandlerContext) {
    let buffer = context.channel.allocator.buffer(string: text)
    context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
  }
}

/// Reads the log like the reader of a store: immediately after a single change, otherwise with the usual pace.
private final class LogHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  /// The number of lines before the first record of a reply, and the number of lines of each record.
  private static let (headLines, recordLines) = (5, 8)
  private static let pace = TimeAmount(SharedOptions().pace)

  private weak var machine: CountingMachine?
  private var position: String
  private var reply: [UInt8] = []
  private var answered = NIODeadline.now()

  init(_ machine: CountingMachine, after position: Position) {
    self.machine = machine
    self.position = position.description
  }

  func channelActive(context: ChannelHandlerContext) { ask(context) }

  private func ask(_ context: ChannelHandlerContext) {
    send("XREAD COUNT 500 BLOCK 500 STREAMS test:{test}:log \(position)\r\n", context)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    reply += unwrapInboundIn(data).readableBytesView
    let lines = reply.split(separator: 10, omittingEmptySubsequences: false).dropLast()
    if lines.first?.starts(with: "*-1".utf8) ?? false {
      reply = []
      return ask(context)
    }
    let count = (lines.count - Self.headLines) / Self.recordLines
    guard count > 0, lines.count == Self.headLines + count * Self.recordLines,
      lines[Self.headLines - 1].starts(with: "*\(count)\r".utf8)
    else { return }
    let last = lines[Self.headLines + (count - 1) * Self.recordLines + 2]
    position = String(decoding: last.dropLast(), as: UTF8.self)
    reply = []
    machine?.changes.add(count, ordering: .relaxed)
    machine?.answers.add(1, ordering: .relaxed)
    let now = NIODeadline.now()
    guard count > 1 || now - answered < Self.pace else {
      answered = now
      return ask(context)
    }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: Self.pace) {
      let (handler, context) = bound.value
      handler.answered = .now()
      handler.ask(context)
    }
  }
}

/// Gets the changed keys from the server's client tracking.
private final class TrackingHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  private weak var machine: CountingMachine?

  init(_ machine: CountingMachine) { self.machine = machine }

  func channelActive(context: ChannelHandlerContext) {
    send("HELLO 3\r\nCLIENT TRACKING ON BCAST PREFIX test:{test}:v:\r\n", context)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // A push begins with `>`, and a `$` is before each of its strings. The strings are one word, and then the changed keys.
    let bytes = unwrapInboundIn(data).readableBytesView
    let pushes = bytes.count { $0 == UInt8(ascii: ">") }
    let strings = bytes.count { $0 == UInt8(ascii: "$") }
    guard pushes > 0, let machine else { return }
    machine.changes.add(strings - pushes, ordering: .relaxed)
    machine.answers.add(pushes, ordering: .relaxed)
  }
}
