#if HTTPTesting
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

  /// Tests the scripts and the log on a real Redis server, with a sender without SwiftNIO. `make shared` tests `LarderRedis`.
  @Suite(.enabled(if: program != nil, needsServer), .serialized) struct ServerTests {
    private let server: Server
    private let tier: StreamTier

    init() async throws {
      server = try await Server()
      tier = try server.tier()
    }

    @Test func theTierKeepsTheRules() async throws {
      try await withThrowingTaskGroup { group in
        for check in TierConformance.allCases { group.addTask { try await check.run(on: tier) } }
        try await group.waitForAll()
      }
    }

    @Test func machinesLearnOfChangesAndOfALostLog() async throws {
      let (one, two) = (try server.cache(), try server.cache())
      try await one.set("first", for: "a")
      try await waitUntil { try await two.result(for: "a") { "loaded" }.isConfirmed }
      #expect(try two.local.value(for: "a") == "first")
      try await one.set("second", for: "a")
      try await waitUntil { try two.local.value(for: "a") == nil }
      #expect(try await two.value(for: "a") { "loaded" } == "second")
      try await server.run("FLUSHALL")
      try await waitUntil { two.shared.statistics.gaps == 1 }
      #expect(try await two.value(for: "a") { "loaded" } == "loaded")
      for cache in [one, two] { #expect(try cache.local.namespace.store.verify().faults == []) }
    }

    /// The unreadable record simulates a record of another program, or a new kind of record of a later version of Larder.
    @Test func aRecordThatCannotBeReadIsAGap() async throws {
      let cache = try server.cache()
      try await cache.set("first", for: "a")
      try await waitUntil { try await cache.result(for: "a") { "loaded" }.isConfirmed }
      try await server.run("XADD", "shop:{shop}:log", "*", "field", "value")
      try await waitUntil { cache.shared.statistics.gaps == 1 }
      try await waitUntil { try await cache.result(for: "a") { "loaded" }.isConfirmed }
      try await cache.set("second", for: "a")
      #expect(try await cache.value(for: "a") { "loaded" } == "second")
      #expect(cache.shared.statistics.gaps == 1)
    }

    private let key = SharedKey(namespace: "n", bytes: Array("a".utf8))

    /// After a server's clock was set back, the server keeps the millisecond of the newest record and increases only the
    /// sequence number. Before this number needs more than 20 bits, the tier must take the next millisecond.
    @Test func aMillisecondOfManyChangesIsFollowedByTheNext() async throws {
      let id = "9000000000000-\(1 << 20 - 3)"
      try await server.run("XADD", "shop:{shop}:log", id, "c", "begin 0123456789ab - 0 ")
      try await server.run("SET", "shop:{shop}:head", "\(id) 0123456789ab")
      var positions = [try #require(Position(id: Array(id.utf8)))]
      for _ in 0..<3 { positions.append(try await tier.change(.remove(key))) }
      #expect(positions == positions.sorted() && Set(positions.map(\.word)).count == 4)
      #expect(!positions.contains { $0.isBeyondWord }, "\(positions)")
      let records = try await tier.records(after: positions[0], waiting: .zero)
      #expect(records.map(\.position) == Array(positions.dropFirst()))
      #expect(records.last?.position == (try await tier.newestRecord().position))
    }

    /// The head is the position of the tier's newest change. The next change must also follow later records of other programs.
    @Test func aForeignRecordBlocksNoChange() async throws {
      let id = "9000000000000-\(1 << 20 - 2)"
      try await server.run("SET", "shop:{shop}:head", "\(id) 0123456789ab")
      try await server.run("XADD", "shop:{shop}:log", "9000000000009-0", "field", "value")
      #expect(
        try await tier.change(.remove(key)) > Position(milliseconds: 9_000_000_000_009, sequence: 0)
      )
    }

    /// A server's clock may go back: somebody sets the clock, or a replica with another clock takes over. By the changed clock,
    /// a newer value would seem older, so the tier must give the newer value a later time.
    @Test(arguments: [true, false])
    func aValueIsNewerThanTheOneBeforeEvenIfTheClockWasSetBack(isFilled: Bool) async throws {
      let value = TierValue(frame: [1], lifetime: .seconds(60), tags: [])
      func fill(_ stamp: ValueStamp?) async throws -> ValueStamp {
        let answer = try await tier.acquire(
          key, rejecting: stamp, as: LeaseToken(), for: .seconds(60))
        guard case .granted(let lease) = answer else { throw NoServer() }
        return try #require(try await tier.fill(key, value, lease))
      }
      if isFilled { _ = try await fill(nil) } else { _ = try await tier.change(.set(key, value)) }
      let first = try #require(try await tier.fetch(key, tags: [])).stamp
      let time = try await server.run("GET", "shop:{shop}:time").bytes
      #expect(time == Array("\(first.written)".utf8))
      // Makes the state after a server's clock was an hour ahead and was set back: the stored time lies in the future.
      try await server.run("SET", "shop:{shop}:time", "\(first.written + 3_600_000_000)")
      let second = try await fill(first)
      #expect(second.version > first.version)
      let third = try await fill(second)
      #expect(third.version == second.version && third > second)
    }

    /// If a server's clock is set back by a day, a lease would last a day longer. So the tier must shorten such a lease.
    @Test func aLeaseLongerThanAnyEndsSoon() async throws {
      func ask() async throws -> LeaseAnswer {
        try await tier.acquire(key, rejecting: nil, as: LeaseToken(), for: .milliseconds(200))
      }
      guard case .granted = try await ask() else { throw NoServer() }
      try await server.run("PEXPIRE", "shop:{shop}:l:1:n:a", "360000000")
      guard case .held(let left) = try await ask() else { throw NoServer() }
      #expect(left <= .milliseconds(200))
      try await waitUntil { if case .granted = try await ask() { true } else { false } }
    }

    /// A server may evict a lease during a load. Another machine could then have loaded the key, so the load is repeated.
    @Test func aLoadWhoseLeaseIsGoneIsRepeated() async throws {
      let cache = try server.cache(in: "n")
      let origin = Origin(isOpen: false)
      let read = Task { try await cache.result(for: "a") { try await origin.text() } }
      try await waitUntil { origin.loads == 1 }
      try await server.run("DEL", "shop:{shop}:l:1:n:a")
      origin.open()
      let result = try await read.value
      #expect(result.value == "load 2" && result.error == nil)
      #expect(cache.shared.statistics.overtaken == 1)
      #expect(
        try await cache.currentResult(for: "a") { _ in .value(try await origin.text()) }?.value
          == "load 2")
    }
  }

  extension SharedOptions {
    /// Long timeouts: other tests run at the same time, and a slow reply of a busy machine must not fail a test.
    fileprivate static let patient = SharedOptions(
      readTimeout: .seconds(10), writeTimeout: .seconds(10))
  }

  private struct NoServer: Error {}

  /// A Redis server at a socket in its own folder, because a port may belong to another program. The release stops the server.
  private final class Server: Sendable {
    let sender: SocketSender
    private let process = Process()
    private let folder = TemporaryDirectory()

    init() async throws {
      sender = SocketSender(path: folder.path + "/redis")
      process.executableURL = URL(fileURLWithPath: program ?? "")
      process.arguments = [
        "--port", "0", "--unixsocket", sender.path, "--save", "", "--dir", folder.path,
      ]
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      let ping = Command([Array("PING".utf8)], timeout: .seconds(1))
      for _ in 0..<1000 where process.isRunning {
        if (try? await sender.send(ping)) == .bytes(Array("PONG".utf8)) { return }
        try await Task.sleep(for: .milliseconds(10))
      }
      throw NoServer()
    }

    func tier() throws -> StreamTier {
      try StreamTier(sender, application: "shop", options: .patient)
    }

    func cache(in name: String = "prices") throws -> SharedCache<String> {
      try Store.temporary().cache(
        TextCodec(), in: name, shared: Shared(sender, application: "shop", options: .patient))
    }

    @discardableResult func run(_ words: String...) async throws -> Reply {
      try await sender.send(Command(words.map { Array($0.utf8) }, timeout: .seconds(10)))
    }

    deinit {
      guard process.isRunning else { return }
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
  }

  /// A sender that uses a connection of its own for each command.
  private struct SocketSender: CommandSender {
    let path: String

    func send(_ command: LarderShared.Command) async throws(LarderError) -> Reply {
      do {
        // On a busy machine the default timeout of 5 s is too short, so this timeout is 60 s.
        let socket = try await AsyncSocket.connected(to: .unix(path: path), timeout: 60)
        defer { try? socket.close() }
        try await socket.write(Data(command.encoded))
        var parser = RESPParser()
        while true {
          if let reply = try parser.next() { return reply }
          parser.append(try await socket.read(atMost: 65_536))
        }
      } catch { throw LarderError(.unreachable, "\(error)") }
    }
  }
#endif
