import FleetKit
import Foundation
import Larder
import LarderRedis
import LarderShared
import LarderSharedTesting
import NIOSSL
import Testing

private let isInstalled = RedisServer.program != nil
private let needsServer: Comment = "skipped: redis-server is not installed"

@Suite(.enabled(if: isInstalled, needsServer)) struct SenderTests {
  @Test(arguments: SenderConformance.allCases)
  func theSenderKeepsTheRules(_ check: SenderConformance) async throws {
    let server = try await RedisServer()
    try await check.run(on: server.sender())
  }

  @Test(arguments: TierConformance.allCases)
  func theTierKeepsTheRules(_ check: TierConformance) async throws {
    let server = try await RedisServer()
    try await check.run(on: server.tier())
  }

  @Test func scriptsAreSentOnceAndAgainAfterTheServerForgotThem() async throws {
    let server = try await RedisServer()
    let sender = try server.sender()
    let tier = try StreamTier(sender, application: "test", options: .patient)
    let key = SharedKey(namespace: "n", bytes: [1])
    for _ in 0..<5 { _ = try await tier.change(.remove(key)) }
    #expect(try await sender.calls(of: "eval") == 2, "the script, and the question for its digest")
    #expect(try await sender.calls(of: "evalsha") == 4)
    _ = try await sender.send("SCRIPT", "FLUSH")
    for _ in 0..<3 { _ = try await tier.change(.remove(key)) }
    #expect(try await sender.calls(of: "eval") == 3)
  }

  @Test func noErrorHasThePasswordOrTheValue() async throws {
    let server = try await RedisServer(["requirepass right-secret"])
    let key = SharedKey(namespace: "n", bytes: Array("key-secret".utf8))
    let value = TierValue(
      frame: Array("value-secret".utf8), lifetime: .seconds(1), tags: [])
    for (user, password) in [(nil, nil), (nil, "wrong-secret"), ("x", "right-secret")] {
      let tier = try server.tier(user: user, password: password)
      let error = await #expect(throws: LarderError.self) {
        try await tier.change(.set(key, value))
      }
      #expect(error?.code == .unreachable)
      #expect(!"\(String(describing: error))".contains("secret"))
    }
    let tier = try server.tier(password: "right-secret")
    _ = try await tier.change(.set(key, value))
    let sender = try server.sender(password: "right-secret")
    _ = try await sender.send("DEL", "test:{test}:head")
    _ = try await sender.send("RPUSH", "test:{test}:head", "x")
    let refusal = await #expect(throws: LarderError.self) {
      try await tier.change(.set(key, value))
    }
    #expect(!"\(String(describing: refusal))".contains("secret"))
  }

  @Test func aUserWithoutAPasswordIsUsed() async throws {
    let server = try await RedisServer(["user shop on nopass ~* +@all"])
    let name = try await server.sender(user: "shop").send("ACL", "WHOAMI")
    #expect(name == .bytes(Array("shop".utf8)))
  }

  @Test func tlsWithACertificateThatIsTrusted() async throws {
    let server = try await RedisServer(tls: true)
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .file(server.folder + "/cert.pem")
    let sender = try RedisSender(host: "localhost", port: server.port, tls: tls)
    #expect(try await sender.send("ECHO", "a") == .bytes([97]))
    // The certificate is not for this address, so the client must refuse it.
    let other = try RedisSender(host: "127.0.0.1", port: server.port, tls: tls)
    await #expect(throws: LarderError.self) { try await other.send("ECHO", "a") }
    let distrusting = try RedisSender(
      host: "localhost", port: server.port, tls: .makeClientConfiguration())
    await #expect(throws: LarderError.self) { try await distrusting.send("ECHO", "a") }
  }

  /// A new connection can begin only after the end of the silent connection. Then a command fails with another error.
  @Test func aSilentConnectionWithTLSEndsWithoutAnAnswer() async throws {
    let server = try await RedisServer(tls: true)
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .file(server.folder + "/cert.pem")
    let sender = try RedisSender(host: "localhost", port: server.port, tls: tls)
    _ = try await sender.send("ECHO", "a")
    server.suspend()
    let start = ContinuousClock.now
    try await poll {
      do throws(LarderError) {
        _ = try await sender.send(Command([Array("TIME".utf8)], timeout: .milliseconds(50)))
      } catch { return error.code == .unreachable }
      return false
    }
    #expect(start.duration(to: .now) < .seconds(6))
    server.resume()
  }

  @Test func aKilledServerFailsAtOnceAndIsFoundAgain() async throws {
    let server = try await RedisServer()
    let sender = try server.sender()
    #expect(try await sender.send("ECHO", "a") == .bytes([97]))
    server.kill()
    let start = ContinuousClock.now
    for _ in 0..<100 {
      await #expect(throws: LarderError.self) { try await sender.send("ECHO", "a") }
    }
    #expect(start.duration(to: .now) < .seconds(10), "100 times far less than the limit of each")
    let next = try await RedisServer(port: server.port)
    try await poll { (try? await sender.send("ECHO", "b")) == .bytes([98]) }
    withExtendedLifetime(next) {}
  }

  /// A process may read the logs of many stores. The replies of shared connections would come after two seconds and later.
  @Test func commandsThatBlockDoNotWaitForEachOther() async throws {
    let server = try await RedisServer()
    let sender = try server.sender()
    try await withThrowingTaskGroup { group in
      for index in 0..<100 {
        let words = ["BLPOP", "list \(index)", "1"].map { Array($0.utf8) }
        group.addTask {
          let reply = try await sender.send(Command(words, timeout: .seconds(3), blocks: true))
          #expect(reply == .null)
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func aServerThatHangsIsWaitedForNoLongerThanTheLimit() async throws {
    let server = try await RedisServer()
    let sender = try server.sender()
    #expect(try await sender.send("ECHO", "a") == .bytes([97]))
    server.suspend()
    let command = Command(["ECHO", "b"].map { Array($0.utf8) }, timeout: .milliseconds(50))
    let error = await #expect(throws: LarderError.self) { try await sender.send(command) }
    #expect(error?.code == .unanswered)
    server.resume()
    try await poll { (try? await sender.send("ECHO", "c")) == .bytes([99]) }
  }
}

extension SharedOptions {
  /// Long timeouts, because requests take long on a machine that is busy with other tests.
  static let patient = SharedOptions(readTimeout: .seconds(10), writeTimeout: .seconds(10))
}

extension RedisServer {
  func tier(
    _ application: String = "test", user: String? = nil, password: String? = nil
  ) throws -> StreamTier {
    try StreamTier(
      sender(user: user, password: password), application: application, options: .patient)
  }
}

extension RedisSender {
  func send(_ words: String...) async throws -> Reply {
    try await send(Command(words.map { Array($0.utf8) }, timeout: .seconds(10)))
  }

  /// The number of times that the server has run a command.
  func calls(of command: String) async throws -> Int {
    let info = try await send("INFO", "commandstats").bytes ?? []
    let lines = String(decoding: info, as: UTF8.self).split(whereSeparator: \.isNewline)
    let line = lines.first { $0.hasPrefix("cmdstat_\(command):calls=") }
    return line.flatMap { Int($0.drop { $0 != "=" }.dropFirst().prefix { $0.isNumber }) } ?? 0
  }
}

/// Waits, for at most half a minute, until `condition` is true.
func poll(_ condition: () async throws -> Bool) async throws {
  for _ in 0..<3000 {
    if try await condition() { return }
    try await Task.sleep(for: .milliseconds(10))
  }
  Issue.record("the condition never became true")
}
