public import Foundation
public import HTTPTypes
public import Larder
public import LarderHTTP

/// A web service as an adapter uses it: a base address, the fields of every request, a transport or an HTTP cache, and the
/// waits that the service asks for.
public struct Service: Sendable {
  public let base: String
  let carrier: Carrier
  /// Sent with every request to this service, `Authorization` for example; never to another host.
  public var fields = HTTPFields()
  /// Reads the text of an error from its body. Without JSON the body is the text, unless it is a page.
  public var message: @Sendable (JSON) -> String? = { _ in nil }
  /// The parameters of an address that are credentials, in small letters.
  public var secretParameters = HTTPCachePolicy().secretParameters.union(["appid"])
  /// Reads the wait from the body of a 429, for a service without `Retry-After`.
  public var wait: @Sendable (JSON) -> Duration? = { _ in nil }
  /// Waits when the service asks for it; tests set one that returns at once.
  public var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  /// Called for every lookup and request: `lego.colors 4: disk, 12 s old`.
  public var log: (@Sendable (String) -> Void)?

  /// The longest time for a request and its whole answer, where there is no HTTP cache with a limit of its own.
  public var timeout = Duration.seconds(60)

  /// The longest wait that a request accepts.
  public static let longestWait = Duration.seconds(60)
  /// The largest body that is read, after decompression.
  public static let largestBody = 64_000_000
  static let mostRedirections = 5

  enum Carrier {
    case cache(HTTPCache)
    case transport(any HTTPTransport)
  }

  /// The cache of responses; nil if there is none.
  public var cache: HTTPCache? {
    if case .cache(let cache) = carrier { cache } else { nil }
  }

  /// A service whose responses are cached by the rules of HTTP.
  ///
  /// - Parameter base: scheme, authority and the path that all requests begin with: `https://rebrickable.com/api/v3`.
  public init(at base: String, over cache: HTTPCache) { self.init(base, .cache(cache)) }

  /// A service without an HTTP cache: the adapter stores what it decodes.
  public init(at base: String, over transport: any HTTPTransport) {
    self.init(base, .transport(transport))
  }

  private init(_ base: String, _ carrier: Carrier) {
    self.base = Self.base(base)
    self.carrier = carrier
  }

  /// An address without blanks around it and slashes at its end, its scheme and host in small letters: it names the same
  /// service.
  public static func base(_ address: String) -> String {
    var base = address.trimmingBlanks
    while base.hasSuffix("/") { base.removeLast() }
    return lowered(base)
  }

  /// An address with scheme and host in small letters, and the host in ASCII. The name of a user before the host stays as it is.
  static func lowered(_ address: String) -> String {
    guard let start = schemeEnd(of: address)?.upperBound else { return address }
    let authority = address[start...].prefix { !"/?#".contains($0) }
    let host = authority.lastIndex(of: "@") ?? start
    let (user, end) = (address[start..<host], authority.endIndex)
    let name = asciiHost(address[host..<end].lowercased())
    return "\(address[..<start].lowercased())\(user)\(name)\(address[end...])"
  }

  /// The form of a host that the domain name system knows (RFC 5891): `xn--zrich-kva.example` for a name with an umlaut.
  private static func asciiHost(_ host: String) -> String {
    if host.utf8.allSatisfy({ $0 < 0x80 }) { return host }
    let address = URL(string: "http://" + host)?.absoluteString
    return address.map { String($0.dropFirst("http://".count)) } ?? host
  }

  /// The `://` of a whole URL; nil for a path, which may have one in it or in its query.
  public static func schemeEnd(of address: String) -> Range<String.Index>? {
    address.firstRange(of: "://").flatMap { end in
      address[..<end.lowerBound].contains { "/?#".contains($0) } ? nil : end
    }
  }

  private var now: Timestamp { cache?.namespace.store.now ?? SystemClock().now }

  /// Sends a request and returns the answer with its whole body, whatever the status.
  ///
  /// After a 429 it waits as long as the service asks, at most ``longestWait``, and sends the request once more. A GET follows
  /// redirections.
  ///
  /// - Parameters:
  ///   - path: the part after the base, with the query; or a whole URL, as services give for the next page.
  ///   - tags: the tags of the stored answer.
  public func send(
    _ path: String, method: HTTPRequest.Method = .get, body: [UInt8] = [],
    fields more: HTTPFields = HTTPFields(), tags: [String] = []
  ) async throws -> Reply {
    let request = try request(path, method: method, fields: more)
    func exchanged() async throws -> Reply {
      try await follow(try await exchange(request, body: body, tags: tags), to: request, more, tags)
    }
    let reply = try await exchanged()
    guard reply.status == 429 else { return reply }
    let wait = pause(after: reply)
    guard wait <= Self.longestWait else { throw ServiceError.throttled(wait: wait) }
    try await sleep(wait)
    let second = try await exchanged()
    guard second.status != 429 else {
      throw ServiceError.throttled(wait: pause(after: second, unnamed: wait))
    }
    return second
  }

  /// At least a second: the service may name no time, or one that has passed.
  private func pause(after reply: Reply, unnamed: Duration = .seconds(1)) -> Duration {
    max(.seconds(1), reply.wait(at: now) ?? reply.json.flatMap(wait) ?? unnamed)
  }

  /// The decoded body of a good answer (2xx); any other is thrown as ``ServiceError/refused(status:message:)``.
  ///
  /// Removes an answer that cannot be decoded or has a fault from the cache, and sends the request once more.
  ///
  /// - Parameter fault: says why a decoded value is of no use; nil for a good one.
  public func get<Value: Decodable>(
    _ type: Value.Type, from path: String, fields more: HTTPFields = HTTPFields(),
    decoder: JSONDecoder = JSONDecoder(), fault: (Value) -> String? = { _ in nil }
  ) async throws -> Value {
    try await get(type, from: path, decoder: decoder, fault: fault) { extra in
      try checked(await send(path, fields: extra ?? more))
    }.value
  }

  /// The same for a request with needs of its own.
  ///
  /// - Parameter exchange: sends it, the second time with the fields that it is given: they bypass the cache.
  public func get<Value: Decodable>(
    _ type: Value.Type, from path: String, decoder: JSONDecoder = JSONDecoder(),
    fault: (Value) -> String? = { _ in nil }, _ exchange: (HTTPFields?) async throws -> Reply
  ) async throws -> (value: Value, reply: Reply) {
    do {
      let first = try await exchange(nil)
      do {
        return (try first.decoded(type, decoder: decoder, fault: fault), first)
      } catch {
        try await forget(path)
      }
    } catch let error as ServiceError where error.isUnusable {
      // A checked transport refused it, so the stored answer is another one, and stays.
    }
    let second = try await exchange([.cacheControl: "no-cache"])
    do {
      return (try second.decoded(type, decoder: decoder, fault: fault), second)
    } catch {
      try await forget(path)
      throw error
    }
  }

  /// Removes the stored answers to a request; returns what was removed.
  @discardableResult public func forget(_ path: String) async throws -> RemovalResult {
    try await cache?.removeAll(for: request(path, method: .get, fields: HTTPFields()))
      ?? RemovalResult()
  }
}

/// Calls `body`, which stores something that can be done without; nil if the store has no room for it.
public func ifRoom<Result>(_ body: () throws -> Result) throws -> Result? {
  do { return try body() } catch let error as LarderError where error.code == .full { return nil }
}

/// The same for writes that suspend the task.
public func ifRoomSuspending<Result>(_ body: () async throws -> Result) async throws -> Result? {
  do { return try await body() } catch let error as LarderError where error.code == .full {
    return nil
  }
}

/// Separates the answers for one user of one service from all others.
///
/// Each realm has its own namespaces, so a user never sees what another user fetched, nor one service's answers under
/// another's name. Names of namespaces end in a digest that is keyed by the store: whoever sees a name alone cannot find the
/// credential, and whoever has the store too can find one that is easily guessed.
public struct ServiceRealm: Hashable, Sendable {
  /// The service and the credential; nil for public data.
  private let owner: String?

  /// Public data; names have no digest.
  public static let open = ServiceRealm(owner: nil)

  private init(owner: String?) { self.owner = owner }

  public init(base: String, credential: String) {
    owner = Service.base(base) + "\n" + credential
  }

  /// A namespace's name in this realm, `lego.colors` or `lego.colors.1f0c2a9b03d4855e6a7c20d49b1e3f58`.
  public func name(_ namespace: String, in store: Store) -> String {
    namespace + (owner.map { "." + Secrets.digest($0, in: store) } ?? "")
  }
}
