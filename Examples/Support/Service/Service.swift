public import Foundation
public import HTTPTypes
public import Larder
public import LarderHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A web service for an adapter: a base address, the fields of every request, and an HTTP cache. The cache also applies the
/// time limit, waits if the service asks for a wait, and distinguishes a login page from an answer.
public struct Service: Sendable {
  /// The scheme, the authority and the common path of all requests: `https://rebrickable.com/api/v3`.
  public let base: String
  public let cache: HTTPCache
  /// The fields of every request to this service, such as `Authorization`. Other hosts never get them.
  public var fields = HTTPFields()
  /// Reads the message of an error from its body.
  public var message: @Sendable (JSON) -> String? = { _ in nil }
  /// Called for every lookup and request: `lego.colors 4: disk, 12 s old`.
  public var log: (@Sendable (String) -> Void)?

  public init(at base: String, over cache: HTTPCache) {
    self.base = Self.base(base)
    self.cache = cache
  }

  /// A service whose answers the HTTP cache does not store: the adapter stores the decoded values.
  public init(at base: String, over transport: any HTTPTransport, in store: Store) {
    let policy = HTTPCachePolicy(longestWait: .seconds(60))
    self.init(
      at: base, over: HTTPCache(in: store.namespace("http"), over: transport, policy: policy))
    fields[.cacheControl] = "no-store"
  }

  /// The address without blanks and slashes at its beginning and end.
  public static func base(_ address: String) -> String {
    address.trimmingCharacters(in: .whitespacesAndNewlines.union(CharacterSet(charactersIn: "/")))
  }

  /// Sends a request and returns the answer with its whole body, whatever the status.
  ///
  /// - Parameter path: the part after the base, with the query; or a whole URL, which services give for the next page.
  public func send(
    _ path: String, method: HTTPRequest.Method = .get, body: [UInt8] = [],
    fields: HTTPFields = [:], tags: [String] = []
  ) async throws -> Reply {
    let request = try request(path, method: method, fields: fields)
    do {
      var result = try await cache.send(request, body: HTTPBody(body), tags: tags)
      // The limit counts bytes after decompression.
      let bytes = try await result.body.bytes(upTo: 64_000_000)
      result.body = HTTPBody()
      let reply = Reply(request: request, result: result, body: bytes)
      // The query may contain a secret, so the log does not show the query.
      log?("\(method) \(reply.path.prefix { $0 != "?" }): \(reply.words)")
      return reply
    } catch {
      guard let failure = error as? any TransportFailure else { throw error }
      throw ServiceError.failed(
        failure.failure, (error as? URLError)?.localizedDescription ?? "\(error)")
    }
  }

  /// The decoded body of a good answer; throws ``ServiceError/refused(status:message:)`` for an answer with another status.
  public func get<Value: Decodable>(
    _ type: Value.Type, from path: String, fault: (Value) -> String? = { _ in nil }
  ) async throws -> Value {
    try await decoded(type, from: checked(send(path)), fault: fault)
  }

  /// The decoded body of an answer. If it cannot be decoded, the HTTP cache removes the answer.
  ///
  /// - Parameter fault: the reason why a decoded value is of no use; nil for a good value.
  public func decoded<Value: Decodable>(
    _ type: Value.Type, from reply: Reply, decoder: JSONDecoder = JSONDecoder(),
    fault: (Value) -> String? = { _ in nil }
  ) async throws -> Value {
    do {
      let value = try decoder.decode(type, from: Data(reply.body))
      guard let fault = fault(value) else { return value }
      throw ServiceError.undecodable(path: reply.path, reason: fault)
    } catch {
      try await cache.removeAll(for: reply.request)
      if error is ServiceError { throw error }
      if reply.isPage { throw ServiceError.wrongContent(path: reply.path, type: "a web page") }
      throw ServiceError.undecodable(
        path: reply.path, reason: (error as? DecodingError)?.words ?? "\(error)")
    }
  }

  /// Removes the stored answers to a request, and returns the size of the removal.
  @discardableResult public func forget(_ path: String) async throws -> RemovalResult {
    try await cache.removeAll(for: request(path, method: .get, fields: [:]))
  }

  /// The answer itself if its status is good (2xx); throws for another status.
  public func checked(_ reply: Reply) throws(ServiceError) -> Reply {
    if (200..<300).contains(reply.status) { return reply }
    throw .refused(status: reply.status, message: reason(of: reply))
  }

  public func reason(of reply: Reply) -> String {
    let text = reply.json.map(message) ?? (reply.isPage ? nil : reply.text.trimmingBlanks)
    return text.flatMap { $0.isEmpty ? nil : String($0.prefix(200)) } ?? "no reason given"
  }

  public func note<Value>(_ key: String, in namespace: String, _ result: CacheResult<Value>?) {
    let words = result.map { "\($0.source.rawValue), \($0.age.components.seconds) s old" }
    log?("\(namespace) \(key): \(words ?? "nothing")")
  }

  private func request(
    _ path: String, method: HTTPRequest.Method, fields: HTTPFields
  ) throws(ServiceError) -> HTTPRequest {
    let address = Self.isPath(path[...]) ? base + path : path
    // The address may contain a password, so the message does not show the address.
    guard let parts = address.wholeMatch(of: /(https?):\/\/([^\/?#@]+)([\/?][^#]*)?(#.*)?/) else {
      throw .failed(.unusable, "its address is not http://HOST or https://HOST")
    }
    let target = String(parts.3 ?? "/")
    var request = HTTPRequest(
      method: method, scheme: String(parts.1), authority: String(parts.2),
      path: target.hasPrefix("/") ? target : "/" + target)
    // The address of an image may name another host, which must not get the credentials.
    if address.hasPrefix(base), Self.isPath(address.dropFirst(base.count)) {
      request.headerFields = self.fields
    }
    for field in fields { request.headerFields[field.name] = field.value }
    return request
  }

  /// Whether the text is the part of an address after the base.
  private static func isPath(_ text: Substring) -> Bool { ["", "/", "?"].contains(text.prefix(1)) }
}

/// Calls `body`. Returns nil if the store throws an error with this code, such as `full` for a value without room.
public func unless<Result>(
  _ code: LarderError.Code, _ body: () async throws -> Result
) async throws -> Result? {
  do { return try await body() } catch let error as LarderError where error.code == code {
    return nil
  }
}
