import Foundation
import HTTPTypes
public import Larder
import LarderHTTP

extension Service {
  /// The answer at the end of the redirections.
  func follow(
    _ first: Reply, to request: HTTPRequest, _ fields: HTTPFields, _ tags: [String]
  ) async throws -> Reply {
    let asked = Self.url(of: request)
    var (reply, address) = (first, asked)
    for count in 0...Self.mostRedirections {
      guard [301, 302, 303, 307, 308].contains(reply.status), request.method == .get,
        let location = reply.fields[.location],
        let next = URL(string: location, relativeTo: address)?.absoluteURL,
        ["http", "https"].contains(next.scheme?.lowercased())
      else { return reply }
      guard count < Self.mostRedirections else { break }
      let request = withoutCredentials(
        try self.request(next.absoluteString, method: .get, fields: fields))
      address = Self.url(of: request)
      reply = try await exchange(request, body: [], tags: tags)
      reply.isElsewhere =
        address?.host != asked?.host || address?.port != asked?.port || address?.path != asked?.path
    }
    throw ServiceError.broken("more than \(Self.mostRedirections) redirections")
  }

  private static func url(of request: HTTPRequest) -> URL? {
    URL(string: "\(request.scheme ?? "http")://\(request.authority ?? "")\(request.path ?? "/")")
  }

  func exchange(_ request: HTTPRequest, body: [UInt8], tags: [String]) async throws -> Reply {
    let path = request.path ?? "/"
    do {
      let reply: Reply
      switch carrier {
      case .cache(let cache):
        let result = try await cache.send(request, body: HTTPBody(body), tags: tags)
        reply = Reply(result, body: try await result.body.bytes(upTo: Self.largestBody), path: path)
      case .transport(let transport):
        reply = try await inTime {
          let (response, body) = try await transport.send(request, body: HTTPBody(body)) { _ in }
          return Reply(response, body: try await body.bytes(upTo: Self.largestBody), path: path)
        }
      }
      note(request, reply)
      return reply
    } catch {
      throw ServiceError(after: error) ?? error
    }
  }

  /// Without a limit a server that sends a byte now and then would hold a request up for ever.
  private func inTime(_ work: @escaping @Sendable () async throws -> Reply) async throws -> Reply {
    try await withThrowingTaskGroup(of: Reply?.self) { group in
      group.addTask(operation: work)
      group.addTask { [timeout] in
        try await Task.sleep(for: timeout)
        return nil
      }
      defer { group.cancelAll() }
      guard let reply = try await group.next() ?? nil else {
        throw ServiceError.interrupted("timed out after \(timeout.words)")
      }
      return reply
    }
  }

  private func note(_ request: HTTPRequest, _ reply: Reply) {
    guard let log else { return }
    let age = reply.age.map { ", \($0) s old" } ?? ""
    let source =
      reply.isStale
      ? "stale\(age)"
      : reply.isHit
        ? "hit\(age)"
        : reply.isConfirmed ? "confirmed by the service" : "from the service, \(reply.status)"
    // The query may contain a secret.
    log("\(request.method) \(reply.path.prefix { $0 != "?" }): \(source)")
  }

  /// Logs a lookup in a namespace.
  public func note<Value>(_ key: String, in namespace: String, _ result: CacheResult<Value>?) {
    log?(Self.line(key, in: namespace, result))
  }

  /// `lego.colors 4: disk, 12 s old`
  public static func line<Value>(
    _ key: String, in namespace: String, _ result: CacheResult<Value>?
  ) -> String {
    let words = result.map { "\($0.source.rawValue), \($0.age / .seconds(1)) s old" }
    return "\(namespace) \(key): \(words ?? "nothing")"
  }

  /// The part of an address after the base; nil if it is of another service, as of a host whose name has the same beginning.
  public func path(of address: String) -> String? {
    let address = Self.lowered(address)
    guard address.hasPrefix(base) else { return nil }
    let path = String(address.dropFirst(base.count))
    return path.isEmpty || path.hasPrefix("/") || path.hasPrefix("?") ? path : nil
  }

  func request(
    _ path: String, method: HTTPRequest.Method, fields more: HTTPFields
  ) throws(ServiceError) -> HTTPRequest {
    let isPath = Self.schemeEnd(of: path) == nil
    if isPath, base.contains(where: { "?#".contains($0) }) {
      throw .broken("its address has a ? or a #: give the part before it")
    }
    // A fragment is not sent (RFC 9110, 4.2.5).
    let address = String(Self.lowered(isPath ? base + path : path).prefix { $0 != "#" })
    guard let scheme = Self.schemeEnd(of: address),
      ["http", "https"].contains(address[..<scheme.lowerBound])
      // A message must not have a password in it.
    else { throw .broken("its address does not begin with http:// or https://") }
    let rest = address[scheme.upperBound...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    if authority.contains("@") {
      throw .broken(
        "its address names a user before the host: give it without the part before the @")
    }
    let tail = rest[authority.endIndex...]
    var request = HTTPRequest(
      method: method, scheme: String(address[..<scheme.lowerBound]), authority: String(authority),
      path: tail.hasPrefix("/") ? String(tail) : "/" + tail)
    // The address of a next page may point to another host, which must not see the credentials.
    if self.path(of: address) != nil { request.headerFields = fields }
    for field in more { request.headerFields[field.name] = field.value }
    return request
  }

  /// The request without the fields that identify a user, if it goes to another service.
  private func withoutCredentials(_ request: HTTPRequest) -> HTTPRequest {
    if Self.url(of: request).flatMap({ path(of: $0.absoluteString) }) != nil { return request }
    return (cache?.rules.policy ?? HTTPCachePolicy()).withoutCredentials(request)
  }
}
