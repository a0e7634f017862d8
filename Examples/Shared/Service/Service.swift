public import HTTPTypes
public import Larder
public import LarderHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A service on the web as an adapter sees it: a base address, the fields that go with every request, what carries them,
/// and the lockTimeout to wait when it is told to.
public struct Service: Sendable {
  public let base: String
  private let carrier: Carrier
  /// What goes with every request, `Authorization` for one.
  public let fields: HTTPFields
  /// What a service says about an error: the text of its body, or nil if there is none.
  private let words: @Sendable ([UInt8]) -> String?
  /// How long an answer of 429 says to wait in its body, where no field says it.
  private let wait: @Sendable ([UInt8]) -> Duration?
  private let sleep: @Sendable (Duration) async throws -> Void

  /// The longest that a request waits because the service said so.
  public static let longestWait = Duration.seconds(60)

  private enum Carrier {
    case cache(HTTPCache)
    case transport(any HTTPTransport)
  }

  /// The cache of responses; nil if there is none.
  public var cache: HTTPCache? {
    if case .cache(let cache) = carrier { cache } else { nil }
  }

  /// A service whose responses are cached as HTTP says.
  ///
  /// - Parameters:
  ///   - base: scheme and authority, with the path that all requests begin with: `https://rebrickable.com/api/v3`.
  ///   - words: reads the message from the body of an error.
  ///   - wait: reads from the body of a 429 how long it says to wait, for a service that has no `Retry-After`.
  ///   - sleep: waits; tests give something that does not.
  public init(
    at base: String, over cache: HTTPCache, fields: HTTPFields = HTTPFields(),
    words: @escaping @Sendable ([UInt8]) -> String? = { _ in nil },
    wait: @escaping @Sendable ([UInt8]) -> Duration? = { _ in nil },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.init(base, .cache(cache), fields, words, wait, sleep)
  }

  /// A service of which the adapter itself keeps what it made of the responses, and nobody the responses.
  public init(
    at base: String, over transport: any HTTPTransport, fields: HTTPFields = HTTPFields(),
    words: @escaping @Sendable ([UInt8]) -> String? = { _ in nil },
    wait: @escaping @Sendable ([UInt8]) -> Duration? = { _ in nil },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.init(base, .transport(transport), fields, words, wait, sleep)
  }

  private init(
    _ base: String, _ carrier: Carrier, _ fields: HTTPFields,
    _ words: @escaping @Sendable ([UInt8]) -> String?,
    _ wait: @escaping @Sendable ([UInt8]) -> Duration?,
    _ sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
    self.carrier = carrier
    self.fields = fields
    self.words = words
    self.wait = wait
    self.sleep = sleep
  }

  private var now: Timestamp { cache?.namespace.store.now ?? SystemClock().now }

  /// Sends a request and returns the answer with its whole body, whatever its status.
  ///
  /// On 429 it waits as long as the service said, at most ``longestWait``, and asks once more.
  ///
  /// - Parameters:
  ///   - path: what follows the base, with the query; or a whole URL, as services give for the next page.
  ///   - tags: what is stored of the answer can be ended by these.
  public func send(
    _ path: String, method: HTTPRequest.Method = .get, body: [UInt8] = [],
    fields more: HTTPFields = HTTPFields(), tags: [String] = []
  ) async throws -> Reply {
    let request = try request(path, method: method, fields: more)
    let reply = try await exchange(request, body: body, tags: tags)
    guard reply.status == 429 else { return reply }
    let wait = reply.wait(at: now) ?? wait(reply.body) ?? .seconds(1)
    guard wait <= Self.longestWait else { throw ServiceError.throttled(wait: wait) }
    try await sleep(wait)
    let second = try await exchange(request, body: body, tags: tags)
    guard second.status != 429 else {
      throw ServiceError.throttled(wait: second.wait(at: now) ?? wait)
    }
    return second
  }

  /// The body of an answer that is good (2xx), decoded; any other is thrown as ``ServiceError/refused(status:message:)``.
  public func get<Value: Decodable>(
    _ type: Value.Type, from path: String, fields more: HTTPFields = HTTPFields(),
    decoder: JSONDecoder = JSONDecoder()
  ) async throws -> Value {
    try await checked(send(path, fields: more)).decoded(type, decoder: decoder)
  }

  /// The answer itself if it is good (2xx), and otherwise an error.
  public func checked(_ reply: Reply) throws(ServiceError) -> Reply {
    guard (200..<300).contains(reply.status) else {
      throw ServiceError.refused(
        status: reply.status, message: words(reply.body) ?? "no reason given")
    }
    return reply
  }

  /// Forgets what is stored of the answer to a request, so that the service is asked for it again; returns what there was.
  @discardableResult
  public func forget(_ path: String) async throws -> RemovalResult {
    try await cache?.removeAll(for: request(path, method: .get, fields: HTTPFields()))
      ?? RemovalResult()
  }

  private func exchange(
    _ request: HTTPRequest, body: [UInt8], tags: [String]
  ) async throws -> Reply {
    do {
      let path = request.path ?? "/"
      switch carrier {
      case .cache(let cache):
        let result = try await cache.send(request, body: body, tags: tags)
        return Reply(result, body: try await result.body.bytes(), path: path)
      case .transport(let transport):
        let (response, body) = try await transport.send(request, body: body) { _ in }
        return Reply(response, body: try await body.bytes(), path: path)
      }
    } catch {
      if let failure = ServiceError(after: error) { throw failure }
      throw error
    }
  }

  /// Whether an address is one of this service, and not of one whose name only begins alike.
  private func isOwn(_ address: String) -> Bool {
    guard address.hasPrefix(base) else { return false }
    let next = address.dropFirst(base.count).first
    return next == nil || next == "/" || next == "?"
  }

  private func request(
    _ path: String, method: HTTPRequest.Method, fields more: HTTPFields
  ) throws(ServiceError) -> HTTPRequest {
    let address = path.contains("://") ? path : base + path
    guard let scheme = address.firstRange(of: "://") else {
      throw ServiceError.undecodable(path: path, reason: "the address \(address) has no scheme")
    }
    let rest = address[scheme.upperBound...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    let tail = rest[authority.endIndex...]
    var request = HTTPRequest(
      method: method, scheme: String(address[..<scheme.lowerBound]), authority: String(authority),
      path: tail.hasPrefix("/") ? String(tail) : "/" + tail)
    // Credentials are for the service alone, wherever the address of a next page points.
    if isOwn(address) { request.headerFields = fields }
    for field in more { request.headerFields[field.name] = field.value }
    return request
  }
}
