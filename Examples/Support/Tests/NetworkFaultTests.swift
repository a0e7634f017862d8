import ExampleTesting
import LarderCurl

/// Servers that break off, under a program and under the transport of the programs on Linux.
@Suite(.checkedStores) struct NetworkFaultTests {
  @Test(arguments: [
    ("", "the service cannot be reached: the connection was lost"),
    ("SSH-2.0-OpenSSH_9.2\r\n", "the exchange with the service failed: the answer is not HTTP"),
    ("HTTP/1.1 200 OK\r\nContent-Le", "the service cannot be reached: the connection was lost"),
  ]) func `a server that breaks off ends no program`(answer: String, words: String) async throws {
    #if os(Linux)
      try await RawServer.run(answer: Array(answer.utf8)) { authority in
        let program = try TestedProgram("larder-departures", store: "store")
        let outcome = try await program.run("search", "Bern", "--base", "http://" + authority)
        #expect(outcome.code == 4 && outcome.error.contains(words), "\(outcome)")
      }
    #endif
  }

  @Test func `a proxy that refuses is named`() async throws {
    #if os(Linux)
      try await RawServer.run(
        answer: Array("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".utf8)
      ) {
        authority in
        let line = "larder-departures search Bern --base https://timetable.example --store"
        let folder = try TemporaryFolder()
        for (proxy, words) in [
          (authority, "403"), (String(repeating: "a", count: 64), "resolve proxy"),
        ] {
          let outcome = try await Outcome(
            line: "https_proxy=http://\(proxy) no_proxy= \(line) '\(folder.url.path)/store'")
          #expect(outcome.code == 4 && outcome.error.contains("through the proxy: "), "\(outcome)")
          #expect(outcome.error.contains(words), "\(outcome)")
        }
      }
    #endif
  }

  @Test func `each kind of failure has its words`() async throws {
    func words(_ base: String) async -> String? {
      let service = Service(at: base, over: CurlTransport())
      do {
        _ = try await service.send("/x")
        return nil
      } catch { return (error as? ServiceError)?.description }
    }
    let unreachable = "the service cannot be reached: "
    let failed = "the exchange with the service failed: "
    try await RawServer.refuse {
      #expect(await words("http://" + $0) == unreachable + "the connection was refused")
    }
    // No name server is asked for a name that is too long.
    let name = String(repeating: "a", count: 64) + ".invalid"
    #expect(await words("http://" + name) == unreachable + "the host is not known")
    #expect(await words("http://127.0.0.1:99999") == failed + "the address is not valid")
    for base in [
      "http://u:secret@127.0.0.1", "ftp://u:secret@127.0.0.1", "http://127.0.0.1/a#b",
      "http://127.0.0.1?a",
    ] {
      let words = try #require(await words(base))
      #expect(words.hasPrefix(failed + "its address ") && !words.contains("secret"), "\(base)")
    }
    try await RawServer.run {
      try await $0.send("no TLS\r\n")
    } _: {
      #expect(await words("https://" + $0)?.hasPrefix(failed + "no secure connection: ") == true)
    }
  }
}
