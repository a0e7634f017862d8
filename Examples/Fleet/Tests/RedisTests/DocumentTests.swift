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

/// The program and the access rights in `Docs/Use/Fleet.md`.
@Suite(.enabled(if: isInstalled, needsServer)) struct DocumentTests {
  private struct Price: Codable, Equatable {
    var cents: Int
  }

  private struct API {
    func price(_ sku: String) async throws -> Price { Price(cents: 1000) }
  }

  private static func page(_ path: String = "Docs/Use/Fleet.md") throws -> String {
    try String(
      contentsOf: URL(fileURLWithPath: #filePath).appending(path: "../../../../../" + path)
        .standardized, encoding: .utf8)
  }

  private static func lines(_ text: some StringProtocol) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// The lines of a server's configuration that define its users.
  private static func users(password: String) throws -> [String] {
    let line = lines(try page()).first { $0.hasPrefix("user shop on ") }
    let user = try #require(line).replacing("PASSWORD", with: password)
    return ["user default off", user]
  }

  @Test func theProgramRunsWithTheDocumentedRights() async throws {
    let secret = "s3cret"
    let server = try await RedisServer(try Self.users(password: secret), tls: true)
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .file(server.folder + "/cert.pem")
    let (host, port, path) = ("localhost", server.port, server.folder + "/store")
    let (api, sku) = (API(), "4711")

    let sender = try RedisSender(host: host, port: port, user: "shop", password: secret, tls: tls)
    let shared = try Shared(sender, application: "shop")
    let store = try Store(at: path)
    let prices = store.cache(
      of: Price.self, in: "prices", rules: Rules(expires: .after(.minutes(2)), stale: .hours(24)),
      shared: shared)

    let price = try await prices.value(for: sku) { try await api.price(sku) }
    #expect(price == Price(cents: 1000))
    try await prices.set(Price(cents: 995), for: sku)
    try await prices.invalidate(tag: "catalog")
    #expect(try await prices.value(for: sku) { try await api.price(sku) } == Price(cents: 995))

    let program = Self.lines(try String(contentsOfFile: #filePath, encoding: .utf8))
    let block = try Self.page().components(separatedBy: "```swift\n")[1]
      .components(separatedBy: "```")[0]
    for line in Self.lines(block) where !line.hasPrefix("//") {
      #expect(program.contains(line), "\(line)")
    }
  }

  /// A sender connects with its first command, so the host of the article need not exist.
  @Test func theProgramOfTheArticleRuns() throws {
    let sender = try RedisSender(host: "redis.example")
    let shared = try Shared(sender, application: "shop")
    _ = shared

    let program = Self.lines(try String(contentsOfFile: #filePath, encoding: .utf8))
    let article = try Self.page("Sources/Shared/LarderRedis/LarderRedis.docc/LarderRedis.md")
    let shown = article.split(separator: "\n").filter { $0.hasPrefix("    ") }
    #expect(shown.count == 2)
    for line in Self.lines(shown.joined(separator: "\n")) {
      #expect(program.contains(line), "\(line)")
    }
  }

  @Test func theDocumentedRightsAreEnoughForEveryRule() async throws {
    let server = try await RedisServer(try Self.users(password: "s3cret"))
    let tier = try server.tier("shop", user: "shop", password: "s3cret")
    for check in TierConformance.allCases { try await check.run(on: tier) }
  }
}
