import ArgumentParser
import Foundation
import HTTPTypes
import Larder
import LarderHTTP
import NIOPosix
import ProxyServer

/// A caching reverse proxy, which also answers if the service is slow or unreachable. `larder` can show its store.
@main struct LarderProxy: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "larder-proxy",
    abstract: "Caches what an HTTP service answers, and answers in its place.")

  @Option(help: "The service: http://HOST:PORT.") var origin: String
  @Option(help: "Where to listen: HOST:PORT.") var listen = "127.0.0.1:8080"
  @Option(help: "The directory of the store; made if it is not there.") var store: String
  @Option(help: "The namespace that responses are kept in.") var namespace = "http"
  @Option(help: "Clients' connections at once; more get a 503.") var connections = 1_000
  @Option(help: "Seconds after which the service counts as out of reach.") var timeout = 15
  @Flag(help: "Keep Set-Cookie with what it came with; without this it is passed on and forgotten.")
  var cookies = false
  @Flag(help: "Store responses for all users (s-maxage, private, RFC 9111 section 3.5).")
  var shared = false
  @Option(
    help:
      "A request field that identifies a user besides Authorization, such as Cookie; repeatable.")
  var partitionBy: [String] = []
  @Option(name: .customLong("rule"), help: RuleOption.help) var rules: [RuleOption] = []
  @Flag(name: .shortAndLong, help: "Log each request, without its query.") var verbose = false

  func validate() throws {
    guard originAddress != nil else {
      throw ValidationError("--origin \(origin) is no address: say http://127.0.0.1:8000")
    }
    guard Address(listen) != nil else {
      throw ValidationError("--listen \(listen) is no address: say 127.0.0.1:8080")
    }
    guard (1...ProxyLimits.mostConnections).contains(connections) else {
      throw ValidationError("--connections must be 1 to \(ProxyLimits.mostConnections)")
    }
    guard timeout > 0 else { throw ValidationError("--timeout must be 1 or more") }
    // The store itself checks a name only when it makes the namespace.
    let hasCharacters = namespace.unicodeScalars.allSatisfy {
      !$0.properties.isWhitespace && $0 != "@" && $0.properties.generalCategory != .control
    }
    guard hasCharacters, (1...Store.Namespace.longestName).contains(namespace.utf8.count) else {
      throw ValidationError(
        "--namespace: use 1 to \(Store.Namespace.longestName) bytes without spaces, @ and control characters"
      )
    }
    for name in partitionBy where HTTPField.Name(name) == nil {
      throw ValidationError("--partition-by \(name) is not a field name: use Cookie or X-API-Key")
    }
  }

  private var originAddress: Address? {
    guard origin.lowercased().hasPrefix("http://") else { return nil }
    var rest = origin.dropFirst("http://".count)
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    let hasPort = rest.contains(":") && !rest.hasSuffix("]")
    guard !rest.contains("@"), let address = Address(hasPort ? "\(rest)" : "\(rest):80") else {
      return nil
    }
    // Only a request whose authority is valid has a key.
    let request = HTTPRequest(
      method: .get, scheme: "http", authority: address.description, path: "/")
    return ResponseKey(request) == nil ? nil : address
  }

  func run() async throws {
    guard let origin = originAddress, let address = Address(listen) else { return }
    let group = MultiThreadedEventLoopGroup.singleton
    var policy = HTTPCachePolicy()
    policy.kind = shared ? .shared : .private
    policy.partitionFields = Set(partitionBy.compactMap { HTTPField.Name($0) })
    policy.storesCookies = cookies
    policy.rules = rules.map(\.rule)
    policy.timeout = .seconds(timeout)
    let path = store
    var limits = ProxyLimits()
    limits.connections = connections
    let cache = try ProxyCache(
      in: namespace, over: OriginTransport(to: origin, on: group, limits: limits), policy: policy,
      log: Self.say, open: { try Store(at: path) })
    let server = try await ProxyServer.start(
      cache, for: origin, at: address, on: group, limits: limits,
      log: verbose ? Self.say : nil)
    Self.say("http://\(server.address) answers for http://\(origin)")
    // Saves the statistics once a minute, for the command `stats` of the program `larder`.
    let saving = Task {
      while (try? await Task.sleep(for: .seconds(60))) != nil {
        do { try await cache.cache.saveStatistics() } catch {
          if !Task.isCancelled { Self.say("the statistics could not be saved: \(error)") }
        }
      }
    }
    let interruptions = Interruptions()
    defer { interruptions.cancel() }
    for await _ in interruptions.signals { break }
    saving.cancel()
    Self.say("ends after the requests under way, within 10 s; a second signal ends it now")
    try await Self.stop(server, within: .seconds(10), orAt: interruptions.signals)
    Self.say(Self.summary(cache.cache.statistics))
    try await cache.cache.saveStatistics()
    try cache.close()
  }

  /// Writes a line immediately. `print` would keep the lines for a pipe or a file in memory, and a kill would lose them.
  @Sendable private static func say(_ line: String) {
    // Without a reader of the log the proxy still answers, so an error is ignored.
    try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
  }

  private static func summary(_ counts: HTTPStatistics) -> String {
    let hits = counts.hits.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ")
    let forwards = counts.forwards.map { "\($0.key.rawValue) \($0.value)" }.sorted()
      .joined(separator: ", ")
    return """
      \(counts.requests) requests answered, \(counts.failures) failed; \(counts.bytesSaved) bytes from the store
      answered from the store: \(hits.isEmpty ? "none" : hits)
      sent to the origin: \(forwards.isEmpty ? "none" : forwards)
      """
  }

  /// Waits for requests under way, until `limit` has passed or another signal comes.
  static func stop(
    _ server: ProxyServer, within limit: Duration, orAt signals: AsyncStream<Void>
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.stop(within: limit) }
      group.addTask { for await _ in signals { break } }
      try await group.next()
      group.cancelAll()
      try await group.waitForAll()
    }
  }
}
