import ExampleTesting

@testable import Articles

/// A sync in a process that is killed, and the requests that the next sync still needs.
@Suite(.serialized) struct KilledProcessTests {
  /// The number of requests that are answered before the process is killed in the next request.
  @Test(arguments: [0, 1, 2, 3, 6, 9, 10, 14, 19, 24, 30])
  func `a killed sync goes on where it was, whenever it was killed`(count: Int) async throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/articles"
    let readeck = FakeReadeck()
    readeck.fill(10, images: 2)
    try await LocalServer.run { server in
      let (begun, exited, ended) = (Gate(), Gate(), Gate())
      let victim = Mutex<Int32?>(nil)
      let account = [
        "--store", path, "--server", server.base + "/api", "--token", FakeReadeck.token,
      ]
      _ = try await Outcome(of: ["larder-articles", "settings", "--images"] + account)
      server.become { request in
        if server.count > count {
          await begun.pass()
          // Kills only once: another process may have the number afterwards.
          victim.withLock { victim in
            if let process = victim { kill(process, SIGKILL) }
            victim = nil
          }
          await ended.pass()
        }
        return readeck.answer(request)
      }
      let child = Process()
      child.executableURL = try Outcome.built("larder-articles")
      child.arguments = ["sync"] + account
      child.standardOutput = FileHandle.nullDevice
      child.standardError = FileHandle.nullDevice
      child.terminationHandler = { _ in exited.open() }
      try child.run()
      victim.withLock { $0 = child.processIdentifier }
      begun.open()
      await exited.pass()
      #expect(child.terminationReason == .uncaughtSignal)
      ended.open()
      server.become { readeck.answer($0) }

      // The clock stands still, so no answer is late, however busy the machine is.
      var options = Store.Options()
      options.clock = ManualClock(now: Timestamp(Date()))
      // Without this file, the dead process holds no leases for its loads.
      let leases = path + "/leases"
      if FileManager.default.fileExists(atPath: leases) {
        try FileManager.default.removeItem(atPath: leases)
      }
      let store = try Store(at: path, options: options)
      let network = Network()
      let reader = Fixture.reader(in: store, at: server.base, over: network)
      let storage = reader.storage
      let (bodies, pictures) = (try storage.articles.keys(), try storage.images.keys())
      let before = server.received.map(\.path)
      // Bodies are fetched one after the other, so all answered bodies are stored.
      #expect(bodies.count >= Set(before.prefix(count)).count { $0.hasSuffix("/article") })
      let result = try await reader.sync().result()
      #expect(
        result.kept == 10 && result.failed == 0 && result.skipped == bodies.count, "\(result)")
      // The server may still count requests of the dead process, so the network of this process counts.
      let asked = network.sent.map(\.path)
      #expect(asked.count == 1 + 10 - bodies.count + 20 - pictures.count)
      for id in bodies { #expect(!asked.contains("/api/bookmarks/\(id)/article")) }
      for address in pictures {
        #expect(!asked.contains(String(address.dropFirst(server.base.count))))
      }
      #expect(try reader.usage().articles == 10 && reader.usage().images == 20)
      try store.finish()
    }
  }
}

extension Cache {
  fileprivate func keys() throws -> [String] {
    try namespace.page(limit: 100).items.compactMap(\.key.string)
  }
}
