import Foundation
import HTTPTypes
import Larder
import TestSupport
import Testing

@testable import LarderHTTP

struct ProcessTests {
  @Test func `two processes share what either was answered, and what either ends`() async throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.path)
    let origin = Origin.page(
      [("Cache-Control", "max-age=1000"), ("ETag", "\"here\"")], body: "here")
    let cache = HTTPCache(in: store.namespace("http"), over: origin)
    func get(_ path: String) async throws -> String {
      String(
        decoding: try await cache.send(request("GET", path)).body.bytes(), as: UTF8.self)
    }
    let peer = try PeerProcess(store: directory.path)
    #expect(peer.line() == "open")

    #expect(try await get("/a") == "here")
    #expect(try peer.ask("GET /a") == "0 here")
    #expect(try peer.ask("GET /b") == "1 peer")
    #expect(try await get("/b") == "peer")
    #expect(origin.count == 1)

    #expect(try peer.ask("POST /a") == "2 peer")
    #expect(try await get("/a") == "here")
    #expect(origin.count == 2)
    #expect(try peer.ask("GET /a") == "2 here")
    #expect(try store.verify().faults == [])
  }

  @Test func `what one process ends of a host or a user is gone for the other`() async throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.path)
    let cache = HTTPCache(in: store.namespace("http"), over: Origin())
    let peer = try PeerProcess(store: directory.path)
    #expect(peer.line() == "open")
    #expect(try peer.ask("GET /a one") == "1 peer")
    #expect(try peer.ask("GET /a two") == "2 peer")
    #expect(try peer.ask("GET /a one") == "2 peer")

    #expect(try await cache.removeAll(authorization: "one").entries == 1)
    #expect(try peer.ask("GET /a two") == "2 peer")
    #expect(try peer.ask("GET /a one") == "3 peer")

    #expect(try await cache.removeAll(host: "example.com").entries == 2)
    #expect(try peer.ask("GET /a two") == "4 peer")
    #expect(try peer.ask("GET /a one") == "5 peer")
    #expect(try store.verify().faults == [])
  }
}

/// A process with an HTTP cache of its own over the same store; it ends when its input does.
final class PeerProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var rest = Data()

  init(store: String) throws {
    process.executableURL = Self.executable
    process.arguments = ["http", store]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  private static let executable: URL = {
    var directory = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    while directory.pathComponents.count > 1 {
      let candidate = directory.appendingPathComponent("LarderPeer")
      if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
      directory.deleteLastPathComponent()
    }
    return URL(fileURLWithPath: "LarderPeer")
  }()

  func line() -> String? {
    while true {
      if let end = rest.firstIndex(of: 0x0A) {
        let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
        rest.removeSubrange(rest.startIndex...end)
        return line
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      rest += more
    }
  }

  /// Begins a request whose answer is not read.
  func begin(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  func ask(_ line: String) throws -> String? {
    try begin(line)
    return self.line()
  }

  // Not to be terminated: a child inherits which signals are blocked.
  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }
}
