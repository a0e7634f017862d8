public import Foundation
public import HTTPTypes
public import Larder
public import LarderHTTP

/// A web service as an adapter uses it: a base address, the fields of every request, and an HTTP cache, which also has the time
/// limit, waits for a service that asks for it, and tells a login page from an answer.
public struct Service: Sendable {
  /// Scheme, authority and the path that all requests begin with: `https://rebrickable.com/api/v3`.
  public let base: String
  public let cache: HTTPCache
  /// Sent with every request to this service, `Authorization` for example; never to another host.
  public var fields = HTTPFields()
  /// Reads the text of an error from its body.
  public var message: @Sendable (JSON) -> String? = { _ in nil }
  /// Called for every lookup and request: `lego.colors 4: disk, 12 s old`.
  public var log: (@Sendable (String) -> Void)?

  /// The largest body that is read, after decompression.
  static let largestBody = 64_000_000

  public init(at base: String, over cache: HTTPCache) {
    self.base = Self.base(base)
    self.cache = cache
  }

  /// A service of whose answers the HTTP cache stores none: the adapter stores what it decodes.
  public init(at base: String, over transport: any HTTPTransport, in store: Store) {
    let policy = HTTPCachePolicy(longestWait: .seconds(60))
    self.init(
      at: base, over: HTTPCache(in: store.namespace("http"), over: transport, policy: policy))
    fields[.cacheControl] = "no-store"
  }

  /// An address without blanks around it and slashes at its end.
  public static func base(_ address: String) -> String {
    var base = address.trimmingBlanks
    while base.hasSuffix("/") { base.removeLast() }
    return base
  }

  /// Sends a request and returns the answer with its whole body, whatever the status.
  ///
  /// - Parameters:
  ///   - path: the part after the base, with the query; or a whole URL, as services give for the next page.
  ///   - tags: the tags of the stored answer.
  public func send(
    _ path: String, method: HTTPRequest.Method = .get, body: [UInt8] = [],
    fields: HTTPFields = [:], tags: [String] = []
  ) async throws -> Reply {
    let request = try request(path, method: method, fields: fields)
    do {
      let result = try await cache.send(request, body: HTTPBody(body), tags: tags)
      let reply = Reply(
        result, body: try await result.body.bytes(upTo: Self.largestBody), to: request)
      // The query may contain a secret.
      log?("\(method) \(reply.path.prefix { $0 != "?" }): \(reply.words)")
      return reply
    } catch {
      throw ServiceError(after: error) ?? error
    }
  }

  /// The decoded body of a good answer; any other is thrown as ``ServiceError/refused(status:message:)``.
  ///
  /// - Parameter fault: says why a decoded value is of no use; nil for a good one.
  public func get<Value: Decodable>(
    _ type: Value.Type, from path: String, fields: HTTPFields = [:],
    decoder: JSONDecoder = JSONDecoder(), fault: (Value) -> String? = { _ in nil }
  ) async throws -> Value {
    let reply = try checked(await send(path, fields: fields))
    return try await decoded(type, from: reply, decoder: decoder, fault: fault)
  }

  /// The decoded body of an answer. One that cannot be decoded does not stay in the HTTP cache.
  public func decoded<Value: Decodable>(
    _ type: Value.Type, from reply: Reply, decoder: JSONDecoder = JSONDecoder(),
    fault: (Value) -> String? = { _ in nil }
  ) async throws -> Value {
    do {
      let value = try reply.decoded(type, decoder: decoder)
      guard let fault = fault(value) else { return value }
      throw ServiceError.undecodable(path: reply.path, reason: fault)
    } catch {
      try await cache.removeAll(for: reply.request)
      throw error
    }
  }

  /// Removes the stored answers to a request; returns what was removed.
  @discardableResult public func forget(_ path: String) async throws -> RemovalResult {
    try await cache.removeAll(for: request(path, method: .get, fields: [:]))
  }

  /// The answer itself if it is good (2xx); throws otherwise.
  public func checked(_ reply: Reply) throws(ServiceError) -> Reply {
    if (200..<300).contains(reply.status) { return reply }
    throw .refused(status: reply.status, message: reason(of: reply))
  }

  /// The text of an error.
  public func reason(of reply: Reply) -> String {
    let text = reply.json.map(message) ?? (reply.isPage ? nil : reply.text.trimmingBlanks)
    return text.flatMap { $0.isEmpty ? nil : String($0.prefix(200)) } ?? "no reason given"
  }

  /// Logs a lookup in a namespace: `lego.colors 4: disk, 12 s old`.
  public func note<Value>(_ key: String, in namespace: String, _ result: CacheResult<Value>?) {
    let words = result.map { "\($0.source.rawValue), \(Int($0.age / .seconds(1))) s old" }
    log?("\(namespace) \(key): \(words ?? "nothing")")
  }

  /// The part of an address after the base; nil if it is of another service.
  public func path(of address: String) -> String? {
    guard address.hasPrefix(base) else { return nil }
    let path = String(address.dropFirst(base.count))
    return path.isEmpty || path.hasPrefix("/") || path.hasPrefix("?") ? path : nil
  }

  private func request(
    _ path: String, method: HTTPRequest.Method, fields: HTTPFields
  ) throws(ServiceError) -> HTTPRequest {
    let address = path.isEmpty || path.hasPrefix("/") || path.hasPrefix("?") ? base + path : path
    let parts = address.split(separator: "://", maxSplits: 1)
    let authority = parts.count == 2 ? parts[1].prefix { !"/?#".contains($0) } : ""
    // A message must not have a password in it.
    guard parts.count == 2, ["http", "https"].contains(parts[0]), !authority.contains("@") else {
      throw .broken("its address is not http://HOST or https://HOST")
    }
    let target = parts[1][authority.endIndex...].prefix { $0 != "#" }
    var request = HTTPRequest(
      method: method, scheme: String(parts[0]), authority: String(authority),
      path: target.hasPrefix("/") ? String(target) : "/" + target)
    // The address of an image may point to another host, which must not see the credentials.
    if self.path(of: address) != nil { request.headerFields = self.fields }
    for field in fields { request.headerFields[field.name] = field.value }
    return request
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
