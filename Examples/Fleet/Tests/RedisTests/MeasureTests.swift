import FleetKit
import Foundation
import Larder
import LarderRedis
import LarderShared
import Testing

private let isAsked =
  RedisServer.program != nil && ProcessInfo.processInfo.environment["LARDER_MEASURE"] != nil

/// Prints what a request of the tier costs beside a bare command over the same connection, and a hit beside that of a cache
/// without a tier. All are medians of rounds that alternate in one run. `LARDER_MEASURE=1 swift test` runs it.
@Suite(.enabled(if: isAsked, "skipped: LARDER_MEASURE is not set"))
struct MeasureTests {
  @Test func ratios() async throws {
    let server = try await RedisServer()
    let sender = try server.sender()
    let tier = try StreamTier(sender, application: "test", options: .patient)
    let key = SharedKey(namespace: "n", bytes: Array("key".utf8))
    let value = TierValue(
      frame: Array(repeating: 7, count: 4096), lifetime: .seconds(600), tags: [])
    let plain = Array("plain".utf8)
    var times: [String: [Duration]] = [:]
    func time(_ name: String, _ body: () async throws -> Void) async throws {
      let start = ContinuousClock.now
      try await body()
      times[name, default: []].append(start.duration(to: .now))
    }
    for _ in 0..<2000 {
      try await time("SET") {
        let words = [Array("SET".utf8), plain, value.frame, Array("PX".utf8), Array("600000".utf8)]
        _ = try await sender.send(Command(words, timeout: .seconds(10)))
      }
      try await time("set") { _ = try await tier.change(.set(key, value)) }
      try await time("GET") {
        _ = try await sender.send(Command([Array("GET".utf8), plain], timeout: .seconds(10)))
      }
      try await time("fetch") { _ = try await tier.fetch(key, tags: []) }
    }
    let store = try Store.temporary()
    let local = store.cache(of: String.self, in: "local")
    let cache = store.cache(of: String.self, in: "shared", shared: Shared(tier))
    try await local.set("value", for: "a")
    try await cache.set("value", for: "a")
    for _ in 0..<200 {
      try await time("hit") {
        for _ in 0..<100 { _ = try await local.value(for: "a") { "loaded" } }
      }
      try await time("shared hit") {
        for _ in 0..<100 { _ = try await cache.value(for: "a") { "loaded" } }
      }
    }
    let medians = times.mapValues { $0.sorted()[$0.count / 2] }
    func ratio(_ name: String, _ base: String) -> String {
      guard let time = medians[name], let other = medians[base] else { return "-" }
      return "\(name) / \(base): \(String(format: "%.2f", time / other)) (\(time) / \(other))"
    }
    print(ratio("fetch", "GET"), ratio("set", "SET"), ratio("shared hit", "hit"), separator: "\n")
  }
}
