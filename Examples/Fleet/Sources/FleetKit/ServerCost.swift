import Foundation
import Larder
import LarderRedis
import LarderShared
import NIOCore
import NIOPosix
import Synchronization

/// What the server spends to tell many machines of a change: by the log, and by its own client tracking.
///
/// The server's processor time is that which it reports itself. So the program that plays the machines does not count.
public enum ServerCost {
  private static let time = Duration.seconds(10)
  private static let options = SharedOptions(readTimeout: .seconds(30), writeTimeout: .seconds(30))

  /// Prints the processor time of the server for each change and machine, and the ratio.
  public static func run(machines: Int, changes: Int) async throws {
    let log = try await cost("log", machines, changes) { try await LogMachine.start($0) }
    let tracking = try await cost("tracking", machines, changes) {
      try await TrackingMachine.start($0)
    }
    print("log / tracking:", String(format: "%.2f (goal 0.6)", log / tracking))
  }

  private static func cost(
    _ name: String, _ machines: Int, _ changes: Int,
    _ start: (RedisServer) async throws -> any CountingMachine
  ) async throws -> Double {
    let server = try await RedisServer(["maxclients 10000"])
    let tier = try StreamTier(server.sender(), application: "test", options: options)
    let change = TierChange.remove(SharedKey(namespace: "n", bytes: Array("key".utf8)))
    _ = try await tier.change(change)
    var all: [any CountingMachine] = []
    for _ in 0..<machines { all.append(try await start(server)) }
    try await Task.sleep(for: .seconds(1))
    let administrator = try server.sender()
    let (before, begin) = (try await processorTime(administrator), ContinuousClock.now)
    var made = 0
    while begin.duration(to: .now) < time {
      _ = try await tier.change(change)
      made += 1
      try await Task.sleep(until: begin + .seconds(1) / changes * made)
    }
    // The last changes arrive.
    for _ in 0..<1000 where all.contains(where: { $0.seen < made }) {
      try await Task.sleep(for: .milliseconds(10))
    }
    let spent = try await processorTime(administrator) - before
    let seen = all.map(\.seen).reduce(0, +)
    let each = spent / Double(made * machines) * 1_000_000
    print(
      "\(name), \(machines) machines:", String(format: "%.1f us", each),
      "for each change and machine; \(made) changes, \(seen) of \(made * machines) seen,",
      "\(all.map(\.answers).reduce(0, +)) answers")
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

/// A machine that counts the changes that it is told of.
private protocol CountingMachine: Sendable {
  var seen: Int { get }
  /// How many messages told of them.
  var answers: Int { get }
}

/// Reads the log as the reader of a store does: at once after a change that came alone, else with the usual pace, and with a
/// look at the head twice a second.
private final class LogMachine: CountingMachine {
  private let counts = Mutex((seen: 0, answers: 0))
  private let tasks = Mutex<[Task<Void, any Error>]>([])

  var seen: Int { counts.withLock { $0.seen } }
  var answers: Int { counts.withLock { $0.answers } }

  static func start(_ server: RedisServer) async throws -> any CountingMachine {
    let machine = LogMachine()
    let options = SharedOptions(readTimeout: .seconds(30), writeTimeout: .seconds(30))
    let tier = try StreamTier(server.sender(), application: "test", options: options)
    let first = try await tier.newestRecord().position
    let reading = Task { [weak machine] in
      var position = first
      var (answered, looked) = (ContinuousClock.now, ContinuousClock.now)
      while machine != nil {
        if looked.duration(to: .now) >= .milliseconds(500) {
          _ = try await tier.look(at: position)
          looked = .now
        }
        let records = try await tier.records(after: position, waiting: .milliseconds(500))
        guard let last = records.last else { continue }
        position = last.position
        machine?.counts.withLock { counts in
          counts.seen += records.count
          counts.answers += 1
        }
        if records.count > 1 || answered.duration(to: .now) < options.pace {
          try await Task.sleep(for: options.pace)
        }
        answered = .now
      }
    }
    machine.tasks.withLock { $0.append(reading) }
    return machine
  }

  deinit { for task in tasks.withLock({ $0 }) { task.cancel() } }
}

/// Is told of changes by the server's client tracking, for every key of the application.
private final class TrackingMachine: CountingMachine, ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let messages = Atomic(0)
  private let channel = Mutex<(any Channel)?>(nil)

  var seen: Int { messages.load(ordering: .relaxed) }
  var answers: Int { seen }

  static func start(_ server: RedisServer) async throws -> any CountingMachine {
    let machine = TrackingMachine()
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { channel in channel.pipeline.addHandler(machine) }
      .connect(host: "127.0.0.1", port: server.port).get()
    // Each change sets the head, and nothing else does: it is told once.
    let words = "HELLO 3\r\nCLIENT TRACKING ON BCAST PREFIX test:{0}:head\r\n"
    try await channel.writeAndFlush(channel.allocator.buffer(string: words))
    machine.channel.withLock { $0 = channel }
    return machine
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // A push begins with `>`, which no name and number here has.
    let pushes = unwrapInboundIn(data).readableBytesView.count { $0 == UInt8(ascii: ">") }
    messages.add(pushes, ordering: .relaxed)
  }

  deinit { channel.withLock { $0?.close(promise: nil) } }
}
