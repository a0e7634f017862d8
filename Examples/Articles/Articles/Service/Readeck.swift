import Foundation
import HTTPTypes
import Larder
public import LarderHTTP
public import Service

/// The part of readeck's API that a reader needs. None of its answers is stored here.
public struct Readeck: Sendable {
  let service: Service
  /// Separates this user's data from those of others.
  public let realm: Realm
  /// Whether no request can be sent.
  let isDisconnected: Bool

  /// - Parameters:
  ///   - base: with the path that all requests begin with, `https://readeck.example.com/api`.
  ///   - token: the user's, created at the service.
  ///   - log: called for every lookup and request.
  public init(
    at base: String, token: String, over transport: any HTTPTransport,
    log: (@Sendable (String) -> Void)? = nil,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    realm = Realm(base: base, credential: token)
    isDisconnected = transport is Disconnected
    var service = Service(at: base, over: transport)
    service.fields = [.authorization: "Bearer \(token)"]
    service.message = { $0["message"]?.text }
    (service.sleep, service.log) = (sleep, log)
    self.service = service
  }

  static let accept: HTTPFields = [.accept: "application/json"]

  public func bookmark(_ id: String) async throws -> Bookmark { try await answer(for: id).value }

  /// The bookmark, and the answer that had it.
  func answer(for id: String) async throws -> (value: Bookmark, reply: Reply) {
    let path = "/bookmarks/\(id.percentEscaped)"
    return try await service.get(Bookmark.self, from: path) { fields in
      try checked(await service.send(path, fields: fields ?? Self.accept))
    }
  }

  /// Whether the service has the bookmark.
  func has(_ id: String) async throws -> Bool {
    do {
      _ = try await bookmark(id)
      return true
    } catch let error as ServiceError where error.isMissing {
      return false
    }
  }

  /// Whether the service answers at all.
  func answers() async throws -> Bool {
    do {
      _ = try await service.send("/bookmarks?limit=1")
      return true
    } catch let error as ServiceError where error.isOffline {
      return false
    }
  }

  /// Whether the service lists articles: then the failure of another request concerns that one alone. A proxy may answer every
  /// request with 404 while the service is down.
  func lists() async throws -> Bool {
    do {
      _ = try await unread(limit: 1)
      return true
    } catch is ServiceError {
      return false
    }
  }

  enum Body: Sendable {
    case html(String, validators: EntryAttributes)
    /// The service's 304 has no validators.
    case unchanged
  }

  /// The article's HTML, a fragment.
  ///
  /// - Parameter entityTag: that of the stored body. It is no quoted string and may end in a content coding; the service
  ///   compares it byte for byte.
  func body(of id: String, unlessMatching entityTag: [UInt8]?) async throws -> Body {
    var fields: HTTPFields = [.accept: "text/html"]
    if let entityTag { fields[.ifNoneMatch] = String(decoding: entityTag, as: UTF8.self) }
    let reply = try await service.send("/bookmarks/\(id.percentEscaped)/article", fields: fields)
    if reply.status == 304, entityTag != nil { return .unchanged }
    let good = try service.checked(reply)
    let html = try Self.html(of: good)
    // The service sends a fragment; a whole page is that of another server, and so is probably the end of a redirection.
    let start = String(html.prefix(200)).trimmingBlanks.lowercased()
    let isArticle = start.hasPrefix("<section")
    if start.hasPrefix("<!doctype") || Self.isPage(html) || good.isElsewhere && !isArticle {
      throw ServiceError.wrongContent(path: good.path, type: "a web page")
    }
    // A body that was cut off before it was compressed arrives without an error, or is empty.
    if start.isEmpty {
      throw ServiceError.undecodable(path: good.path, reason: "it is empty")
    }
    if isArticle, Self.lacksEnd(html) {
      throw ServiceError.undecodable(path: good.path, reason: "its end is missing")
    }
    if let type = good.contentType, !type.hasPrefix("text/") {
      throw ServiceError.wrongContent(path: good.path, type: type)
    }
    return .html(html, validators: good.validators)
  }

  /// The body as text: always UTF-8, as the service says. Bytes that are not valid become U+FFFD.
  private static func html(of reply: Reply) throws(ServiceError) -> String {
    let type = (reply.fields[.contentType] ?? "").lowercased().filter { $0 != " " && $0 != "\"" }
    let charset = type.split(separator: ";").first { $0.hasPrefix("charset=") }?.dropFirst(8)
    if let charset, !["utf-8", "utf8", "us-ascii"].contains(charset) {
      throw .undecodable(path: reply.path, reason: "its charset \(charset) is not UTF-8")
    }
    return String(decoding: reply.body, as: UTF8.self)
  }

  /// Whether the first element is one that only whole pages have.
  private static func isPage(_ html: String) -> Bool {
    for case .open(let tag) in HTMLTokens(html) {
      return ["html", "head", "title", "base", "link", "body", "frameset"].contains(tag.name)
    }
    return false
  }

  /// Whether a section is not closed. Text in an attribute or a comment is no tag.
  private static func lacksEnd(_ html: String) -> Bool {
    let open = HTMLTokens(html).reduce(0) { open, token in
      switch token {
      case .open(let tag) where tag.name == "section": open + 1
      case .close("section"): open - 1
      default: open
      }
    }
    return open > 0
  }

  /// The URL of an article's HTML: the base of its relative addresses.
  func address(of id: String) -> String { "\(service.base)/bookmarks/\(id.percentEscaped)/article" }

  /// A whole image; throws as ``Reply/image()`` for anything else, such as a login page.
  func image(at address: String) async throws -> Reply {
    try await service.checked(service.send(address, fields: [.accept: "image/*"])).image()
  }
}
