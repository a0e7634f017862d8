import HTTPTypes
import Larder
public import LarderHTTP
import Service

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Readeck's API, as far as reading needs it.
public struct Readeck: Sendable {
  let service: Service
  let sleep: @Sendable (Duration) async throws -> Void
  private let authorization: String
  /// What is asked of the cache for what comes as lists: to ask the service whether what it has is right.
  private var lists = "no-cache"

  /// - Parameters:
  ///   - base: with the path that all requests begin with, `https://readeck.example.com/api`.
  ///   - token: of the user, who made it at the service.
  ///   - cache: for what comes as lists. Bodies and images pass it: the shelf keeps them.
  public init(
    at base: String, token: String, over cache: HTTPCache,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.sleep = sleep
    authorization = "Bearer \(token)"
    service = Service(
      at: base, over: cache, fields: [.authorization: authorization], words: Self.words,
      sleep: sleep)
  }

  /// A list that the service cannot be asked for is not what it has: the shelf stands in, and says so.
  public static var policy: HTTPCachePolicy {
    var policy = HTTPCachePolicy()
    policy.whenDisconnected = .zero
    return policy
  }

  /// The same service, of whose answers nothing is stored.
  var storingNothing: Readeck {
    var readeck = self
    readeck.lists = "no-cache, no-store"
    return readeck
  }

  /// The newest unread articles, newest first.
  public func unread(limit: Int) async throws -> [Bookmark] {
    let reply = try await service.send(
      "/bookmarks?read_status=unread&type=article&sort=-created&limit=\(limit)&offset=0",
      fields: [.accept: "application/json", .cacheControl: lists])
    let listed = try service.checked(reply).decoded([Bookmark].self)
    var seen: Set<String> = []
    return listed.filter { seen.insert($0.id).inserted }
  }

  public func bookmark(_ id: String) async throws -> Bookmark {
    try await service.get(
      Bookmark.self, from: "/bookmarks/\(id.percentEscaped)",
      fields: [.accept: "application/json", .cacheControl: lists])
  }

  enum Body: Sendable {
    case html(String, entityTag: [UInt8]?, lastModified: [UInt8]?)
    /// It is as it was. The service leaves out validators here.
    case unchanged
  }

  /// The article's HTML, a fragment in UTF-8.
  ///
  /// - Parameter entityTag: what the service called the body that is there already. It is no quoted text, and may end in the
  ///   coding of the answer that it came with, so it goes back byte for byte.
  func body(of id: String, unlessMatching entityTag: [UInt8]?) async throws -> Body {
    var fields: HTTPFields = [.accept: "text/html", .cacheControl: "no-store"]
    if let entityTag { fields[.ifNoneMatch] = String(decoding: entityTag, as: UTF8.self) }
    let reply = try await service.send("/bookmarks/\(id.percentEscaped)/article", fields: fields)
    if reply.status == 304, entityTag != nil { return .unchanged }
    let good = try service.checked(reply)
    return .html(
      String(decoding: good.body, as: UTF8.self),
      entityTag: good.fields[.eTag].map { Array($0.utf8) },
      lastModified: good.fields[.lastModified].map { Array($0.utf8) })
  }

  /// Where an article's HTML comes from, to which its relative addresses refer.
  func address(of id: String) -> String { "\(service.base)/bookmarks/\(id.percentEscaped)/article" }

  func image(at address: String) async throws -> Reply {
    try await service.checked(
      service.send(address, fields: [.accept: "image/*", .cacheControl: "no-store"]))
  }

  /// Forgets all answers that are stored, and lets none be stored that the user still waits for.
  func forget() async throws {
    guard let cache = service.cache else { return }
    try await cache.removeAll(authorization: authorization)
    try cache.namespace.clear()
  }

  private struct Message: Decodable {
    var message: String
  }

  private static func words(_ body: [UInt8]) -> String? {
    do {
      return try JSONDecoder().decode(Message.self, from: Data(body)).message
    } catch {
      // Proxies in between answer in HTML.
      return nil
    }
  }
}
