#if Valkey
  import FleetKit
  import Larder
  import LarderShared
  import LarderSharedTesting
  import LarderValkey
  import Logging
  import Testing
  import Valkey

  private let isInstalled = RedisServer.program != nil
  private let needsServer: Comment = "skipped: redis-server is not installed"

  /// The adapter over valkey-swift. `make valkey` runs these tests if that package can be fetched.
  @Suite(.enabled(if: isInstalled, needsServer), .serialized) struct ValkeyTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func client(_ server: RedisServer) -> ValkeyClient {
      ValkeyClient(.hostname("127.0.0.1", port: server.port), logger: Self.logger)
    }

    @Test func theSenderAndTheTierKeepTheRules() async throws {
      let server = try await RedisServer()
      let client = client(server)
      try await withRunning(client.run) {
        let sender = ValkeySender(client)
        for check in SenderConformance.allCases { try await check.run(on: sender) }
        let tier = try StreamTier(sender, application: "test", options: .patient)
        for check in TierConformance.allCases { try await check.run(on: tier) }
      }
    }

    @Test func theTierKeepsTheRulesInACluster() async throws {
      let cluster = try await Cluster()
      let client = ValkeyClusterClient(
        nodeDiscovery: ValkeyStaticNodeDiscovery(
          cluster.nodes.map { .init(endpoint: "127.0.0.1", port: $0.port) }),
        configuration: ValkeyClusterClientConfiguration(),
        logger: Self.logger)
      try await withRunning(client.run) {
        let sender = ValkeySender(client)
        for check in SenderConformance.allCases { try await check.run(on: sender) }
        let tier = try StreamTier(sender, application: "test", options: .patient)
        for check in TierConformance.allCases { try await check.run(on: tier) }
      }
    }

    @Test func machinesLearnOfChangesAndOfAFlush() async throws {
      let server = try await RedisServer()
      let clients = [client(server), client(server)]
      try await withRunning(clients[0].run) {
        try await withRunning(clients[1].run) {
          let caches = try clients.map {
            try Store.temporary().cache(
              TextCodec(), in: "prices",
              shared: Shared(ValkeySender($0), application: "shop", options: .patient))
          }
          try await caches[0].set("first", for: "a")
          #expect(try await caches[1].value(for: "a") { "loaded" } == "first")
          try await caches[0].set("second", for: "a")
          try await poll { try await caches[1].value(for: "a") { "loaded" } == "second" }
          _ = try await server.sender().run("FLUSHALL")
          try await poll { caches[1].shared.statistics.gaps == 1 }
          #expect(try await caches[1].value(for: "a") { "loaded" } == "loaded")
        }
      }
    }

    /// The client still waits for a connection after its caller has got the error that nothing happened.
    @Test func aCommandWhoseCallerHasGoneOnIsNotSentLater() async throws {
      let server = try await RedisServer()
      server.kill()
      let client = client(server)
      try await withRunning(client.run) {
        let sender = ValkeySender(client)
        let words = ["SET", "late:{late}:key", "x"].map { Array($0.utf8) }
        let error = await #expect(throws: LarderError.self) {
          try await sender.send(Command(words, timeout: .milliseconds(50)))
        }
        #expect(error?.code == .unreachable)
        let next = try await RedisServer(port: server.port)
        let get = Command(["GET", "late:{late}:key"].map { Array($0.utf8) }, timeout: .seconds(10))
        try await poll { (try? await sender.send(get)) == .null }
        // The client sends `time` in place of the command, so a `time` shows that the client has handled the command.
        try await poll { try await next.sender().calls(of: "time") >= 1 }
        #expect(try await sender.send(get) == .null)
      }
    }

    private func withRunning(
      _ run: @escaping @Sendable () async -> Void, _ body: () async throws -> Void
    ) async throws {
      let running = Task { await run() }
      defer { running.cancel() }
      try await body()
    }
  }
#endif
