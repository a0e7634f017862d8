import Foundation
import HTTPTypes
import Larder
import LarderHTTP
import Service

/// The part of readeck's API that a reader needs, through an HTTP cache. Articles and images are not in this cache, because
/// they have entries of their own. Bookmarks are not in this cache, because their dates must be new.
extension Service {
  private static func unstored(_ type: String) -> HTTPFields {
    [.accept: type, .cacheControl: "no-store"]
  }
  private static func path(_ id: String) -> String { "/bookmarks/\(id.percentEscaped)" }

  /// The articles that are not archived, newest first. An article stays in this list after the user has opened it.
  func unread(limit: Int) async throws -> ArticleList {
    let path = "/bookmarks?is_archived=false&type=article&sort=-created&limit=\(limit)"
    let fields: HTTPFields = [.accept: "application/json", .cacheControl: "no-cache"]
    let reply = try checked(await send(path, fields: fields))
    let page = try await decoded(LenientList<Bookmark>.self, from: reply)
    let count = page.elements.count + page.skipped.count
    // If an article moves while the service makes the list, the list may contain the article twice, so the second is dropped.
    var seen: Set<String> = []
    let bookmarks = page.elements.filter { seen.insert($0.id).inserted }
    // Without `Total-Count`, the list may be incomplete, so `isWhole` is false.
    let total = HTTPField.Name("Total-Count").flatMap { reply.fields[$0] }.flatMap { UInt($0) }
    return ArticleList(
      bookmarks: bookmarks.sorted { $0.isNewer(than: $1) }, unreadable: page.skipped,
      isWhole: page.skipped.isEmpty && total.map { count >= min(UInt(limit), $0) } ?? false)
  }

  /// Whether the service can list articles. If not, a 404 may come from a proxy in front of a service that is down.
  func lists() async -> Bool { (try? await unread(limit: 1)) != nil }

  func bookmark(_ id: String) async throws -> (value: Bookmark, reply: Reply) {
    let fields = Self.unstored("application/json")
    let reply = try own(await send(Self.path(id), fields: fields))
    return (try await decoded(Bookmark.self, from: reply), reply)
  }

  /// Sends new values for fields of a bookmark. If `fields` is nil, deletes the bookmark.
  func change(_ id: String, _ fields: [String: JSON]?) async throws {
    _ = try own(
      await send(
        Self.path(id), method: fields == nil ? .delete : .patch,
        body: fields.map { Array(try JSONEncoder().encode($0)) } ?? [],
        fields: [.contentType: "application/json", .accept: "application/json"]))
  }

  /// Returns a good answer and throws for a refusal. Proxies and login pages also refuse requests. So a refusal without a
  /// reason in the API's form counts as the answer of another server, and decides nothing about the user's changes.
  private func own(_ reply: Reply) throws(ServiceError) -> Reply {
    let isOwn = reply.json?["message"]?.text != nil || reply.json?["is_valid"]?.isTrue == false
    let needsNoReason = [401, 403, 407, 408, 429].contains(reply.status)
    if (400..<500).contains(reply.status), !needsNoReason, !isOwn {
      throw .wrongContent(path: reply.path, type: "\(reply.status) without a reason of the API")
    }
    return try checked(reply)
  }

  func address(of id: String) -> String { base + Self.path(id) + "/article" }

  /// The article as a piece of HTML, with its validators; nil if the stored HTML is unchanged. The service's tag has no quotes,
  /// so the tag is stored and sent unchanged. A 304 of the service has no validators.
  func body(
    of id: String, stored: CachedValue<String>?
  ) async throws -> (html: String, validators: Validators)? {
    var fields = Self.unstored("text/html")
    fields.append(contentsOf: stored?.conditionalFields ?? [:])
    let reply = try await send(Self.path(id) + "/article", fields: fields)
    if reply.status == 304, stored != nil { return nil }
    let good = try checked(reply)
    // `text` replaces bytes that are not UTF-8 by U+FFFD, so the HTML is valid UTF-8.
    let html = good.text
    let start = String(html.prefix(200)).trimmingBlanks.lowercased()
    // The service sends only a piece of HTML, so a whole page comes from another server.
    let isPage = ["<!doctype", "<html", "<head", "<body"].contains(where: start.hasPrefix)
    let type = isPage ? "a web page" : good.contentType ?? "text/html"
    if !type.hasPrefix("text/") { throw ServiceError.wrongContent(path: good.path, type: type) }
    // If the service compressed a body that was already cut, no error shows the cut. So the end of the article is checked.
    let isArticle = start.hasPrefix("<section")
    if start.isEmpty || isArticle && !html.trimmingBlanks.hasSuffix("</section>") {
      throw ServiceError.undecodable(path: good.path, reason: "its end is missing")
    }
    return (html, good.validators)
  }

  func image(at address: String) async throws -> [UInt8] {
    try await checked(send(address, fields: Self.unstored("image/*"))).image()
  }
}

extension ServiceError { var refusesReader: Bool { [401, 403, 407].contains(status) } }
