import HTTPTypes
import Larder
import LarderHTTP
import NIOCore
import Synchronization
import Testing

@testable import LarderProxy
@testable import ProxyServer

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// How a proxy stops and how its connections are closed.
@Suite(.serialized) struct EndTests {
  /// A proxy with a request whose answer the origin still holds back.
  private struct Busy {
    let bench: Bench
    let clock = ManualClock()
    let client: RawClient
    private let more: AsyncStream<String>.Continuation

    init(_ fields: String = "") async throws {
      let (parts, more) = AsyncStream<String>.makeStream()
      self.more = more
      bench = try await Bench(RawOrigin(parts), clock: clock)
      client = try await RawClient(bench)
      try await client.send("GET /a HTTP/1.1\r\nHost: x\r\n\(fields)\r\n")
      try await waitUntil { [bench] in bench.origin.count == 1 }
    }

    func answer() {
      more.yield("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      more.finish()
    }

    func stop() async throws {
      more.finish()
      client.close()
      try await bench.origin.stop()
    }
  }

  @Test func `a request under way is answered, and an idle connection ends at once`() async throws {
    let busy = try await Busy()
    let idle = [try await RawClient(busy.bench), try await RawClient(busy.bench)]
    try await waitUntil { busy.bench.server.connections.count == 3 }
    let stopping = Task { try await busy.bench.server.stop(within: .seconds(10)) }
    for client in idle { #expect(try await client.rest() == "") }
    // The manual clock stands still, so no time limit closes a connection.
    try await waitUntil { busy.bench.server.connections.count == 1 }
    await #expect(throws: (any Error).self) { _ = try await RawClient(busy.bench) }
    busy.answer()
    let answer = try await busy.client.rest()
    #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("\r\n\r\nok"))
    #expect(answer.contains("Connection: close\r\n"))
    busy.client.close()
    try await stopping.value
    try await busy.stop()
  }

  @Test func `a request that takes too long is cut`() async throws {
    let busy = try await Busy()
    let hasStopped = Mutex(false)
    let stopping = Task {
      try await busy.bench.server.stop(within: .seconds(10))
      hasStopped.withLock { $0 = true }
    }
    try await waitUntil { busy.bench.server.connections.isEnding }
    var passed = Duration.zero
    try await waitUntil {
      busy.clock.advance(by: .seconds(1))
      passed += .seconds(1)
      return hasStopped.withLock { $0 }
    }
    #expect(try await busy.client.rest() == "" && passed >= .seconds(10))
    try await stopping.value
    try await busy.stop()
  }

  @Test func `another signal ends the wait`() async throws {
    let busy = try await Busy()
    let (signals, more) = AsyncStream<Void>.makeStream()
    let stopping = Task {
      try await LarderProxy.stop(busy.bench.server, within: .seconds(10), orAt: signals)
    }
    try await waitUntil { busy.bench.server.connections.isEnding }
    #expect(busy.bench.server.connections.count == 1)
    more.yield()
    #expect(try await busy.client.rest() == "")
    try await stopping.value
    try await busy.stop()
  }

  @Test func `signals can be awaited one after the other`() async throws {
    let interruptions = Interruptions(by: [SIGUSR1])
    // A signal is lost if it arrives before the process waits for it, so the test sends signals until the end.
    let sending = Task {
      while !Task.isCancelled {
        kill(getpid(), SIGUSR1)
        await Task.yield()
      }
    }
    for _ in 0..<2 {
      for await _ in interruptions.signals { break }
    }
    sending.cancel()
    _ = await sending.result
    interruptions.cancel()
  }

  /// RFC 9112 has this rule in section 9.6.
  @Test(arguments: [
    ("HTTP/1.1\r\nHost: x\r\nConnection: close", true), ("HTTP/1.0", true),
    ("HTTP/1.1\r\nHost: x\r\nConnection: keep-alive", false),
  ])
  func `the last answer of a connection says that it is`(rest: String, isLast: Bool) async throws {
    let bench = try await Bench(
      RawOrigin { head, _ in
        let status = head.start.contains("/204") ? "204 No Content" : "200 OK\r\nContent-Length: 2"
        return [Array("HTTP/1.1 \(status)\r\n\r\n".utf8) + Array("ok".utf8)]
      })
    for start in ["GET /a", "GET /204", "HEAD /a", "OPTIONS /a"] {
      let client = try await RawClient(bench)
      try await client.send("\(start) \(rest)\r\nMax-Forwards: 0\r\n\r\n")
      var answer = ""
      while !answer.contains("\r\n\r\n"), let bytes = try await client.connection.read() {
        answer += String(decoding: bytes.readableBytesView, as: UTF8.self)
      }
      #expect(answer.hasPrefix("HTTP/1.1 20"))
      #expect(answer.contains("Connection: close\r\n") == isLast, "\(start)")
      client.close()
    }
    try await bench.stop()
  }
}
