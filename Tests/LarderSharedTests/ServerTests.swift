import FlyingSocks
import Foundation
import Larder
import LarderRedis
import LarderSharedTesting
import TestSupport
import Testing

@testable import LarderShared

private let program = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
  .map { $0 + "/redis-server" }
  .first { FileManager.default.isExecutableFile(atPath: $0) }
private let needsServer: Comment = "skipped: redis-server is not installed"

/// The scripts and the log on a real server, with a sender that needs no SwiftNIO. `make shared` tests `LarderRedis`.
@Suite(.enabled(if: program != nil, needsServer), .serialized) struct ServerTests {
  @Test func theTierKeepsTheRules() async throws {
    let server = try await Server()
    let tier = try StreamTier(server.sender, application: "test", options: .patient)
    try await withThrowingTaskGroup { group in
      for check in TierConformance.allCases { group.addTask { try await check.run(on: tier) } }
      try await group.waitForAll()
    }
  }

  @Test func machinesLearnOfChangesAndOfALostLog() async throws {
    let server = try await Server()
    func machine() throws -> (store: Store, cache: SharedCache<String>) {
      let store = try Store.temporary()
      let shared = try Shared(server.sender, application: "shop", options: .patient)
      return (store, store.cache(TextCodec(), in: "prices", shared: shared))
    }
    let (one, two) = (try machine(), try machine())
    try await one.cache.set("first", for: "a")
    try await waitUntil { try await two.cache.result(for: "a") { "loaded" }.isConfirmed }
    #expect(try two.cache.local.value(for: "a") == "first")
    try await one.cache.set("second", for: "a")
    try await waitUntil { try two.cache.local.value(for: "a") == nil }
    #expect(try await two.cache.value(for: "a") { "loaded" } == "second")
    _ = try await server.sender.send(Command([Array("FLUSHALL".utf8)], timeout: .seconds(10)))
    try await waitUntil { two.cache.shared.statistics.gaps == 1 }
    #expect(try await two.cache.value(for: "a") { "loaded" } == "loaded")
    for machine in [one, two] { #expect(try machine.store.verify().faults == []) }
  }

  /// Another program writes into the log, or a later version writes records of a new kind.
  @Test func aRecordThatCannotBeReadIsAGap() async throws {
    let server = try await Server()
    let store = try Store.temporary()
    let shared = try Shared(server.sender, application: "shop", options: .patient)
    let cache = store.cache(TextCodec(), in: "prices", shared: shared)
    try await cache.set("first", for: "a")
    try await waitUntil { try await cache.result(for: "a") { "loaded" }.isConfirmed }
    let words = ["XADD", "shop:{0}:log", "*", "field", "value"]
    _ = try await server.sender.send(
      Command(words.map { Array($0.utf8) }, timeout: .seconds(10)))
    try await waitUntil { shared.statistics.gaps == 1 }
    try await waitUntil { try await cache.result(for: "a") { "loaded" }.isConfirmed }
    try await cache.set("second", for: "a")
    #expect(try await cache.value(for: "a") { "loaded" } == "second")
    #expect(shared.statistics.gaps == 1)
  }
}

extension SharedOptions {
  /// The tests run beside others: a busy machine is no fault.
  fileprivate static let patient = SharedOptions(
    readTimeout: .seconds(10), writeTimeout: .seconds(10))
}

private struct NoServer: Error {}

/// A server on a loopback port, ended with the last reference.
private final class Server: Sendable {
  let sender: SocketSender
  private let process: Process
  private let folder = try? TemporaryDirectory()

  init() async throws {
    // A port that another program has makes the server end at once.
    for _ in 0..<20 {
      let port = UInt16.random(in: 20_000..<50_000)
      let process = Process()
      process.executableURL = URL(fileURLWithPath: program ?? "")
      process.arguments = [
        "--bind", "127.0.0.1", "--port", "\(port)", "--save", "", "--dir", folder?.path ?? "/tmp",
      ]
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      let sender = SocketSender(port: port)
      for _ in 0..<500 where process.isRunning {
        let ping = Command([Array("PING".utf8)], timeout: .seconds(1))
        if (try? await sender.send(ping)) == .bytes(Array("PONG".utf8)) {
          self.process = process
          self.sender = sender
          return
        }
        try await Task.sleep(for: .milliseconds(10))
      }
      process.terminate()
    }
    throw NoServer()
  }

  deinit {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}

/// Sends each command over a connection of its own.
private struct SocketSender: CommandSender {
  let port: UInt16

  func send(_ command: LarderShared.Command) async throws(LarderError) -> Reply {
    do {
      // The usual 5 s run out on a busy machine.
      let socket = try await AsyncSocket.connected(
        to: .inet(ip4: "127.0.0.1", port: port), timeout: 60)
      defer { try? socket.close() }
      try await socket.write(Data(command.encoded))
      var parser = RESPParser()
      while true {
        if let reply = try parser.next() { return reply }
        parser.append(try await socket.read(atMost: 65_536))
      }
    } catch {
      throw LarderError(.unreachable, "\(error)")
    }
  }
}
