import ExampleTesting

/// A readeck server for tests. Its API has the forms of the real API, and treats validators like the real API.
final class FakeReadeck: Sendable {
  struct Page {
    var number: Int
    var title: String
    var updated: String
    var html: String
    /// The entity tag. As in the real service, the tag has no quotes.
    var entityTag: String
    var isArchived = false
    var isMarked = false
    /// The reading progress: 0, 50 or 100 percent.
    var progress = 0
    var id: String { FakeReadeck.id(number) }

    var bookmark: [String: Any] {
      [
        "id": id, "created": FakeReadeck.moment(number), "updated": updated, "title": title,
        "url": "https://example.com/\(id)", "authors": NSNull(), "has_article": true,
        "is_marked": isMarked, "is_archived": isArchived, "read_progress": progress,
      ]
    }
  }

  static let token = "secret"
  let clock = ManualClock()
  private let stored = Mutex<[Page]>([])
  private let images = Mutex<[String: LocalServer.Answer]>([:])

  var pages: [Page] {
    get { stored.withLock { $0 } }
    set { stored.withLock { $0 = newValue } }
  }

  func set(_ image: LocalServer.Answer, at path: String) { images.withLock { $0[path] = image } }
  func page(_ number: Int) -> Page? { pages.first { $0.number == number } }
  func remove(_ number: Int) { stored.withLock { $0.removeAll { $0.number == number } } }

  func change(_ number: Int, _ change: (inout Page) -> Void) {
    stored.withLock { pages in
      guard let index = pages.firstIndex(where: { $0.number == number }) else { return }
      change(&pages[index])
    }
  }

  /// Adds `count` pages, the newest first. Each page shows `images` images that no other page shows.
  func fill(_ count: Int, images: Int = 0, from first: Int = 0) {
    for number in first..<first + count {
      let paths = (0..<images).map { Self.image($0, of: number) }
      for path in paths { set(Self.image(5), at: path) }
      let html = paths.map { "<img src=\"\($0)\" alt='x'>" }.joined()
      let page = Page(
        number: number, title: "Article \(number)", updated: Self.moment(number),
        html: "<section>\(number) \(html)</section>",
        entityTag: "\(String(number, radix: 16))a5b2c-gzip")
      pages.insert(page, at: 0)
    }
  }

  static func id(_ number: Int) -> String { "Gyw\(1000 + number)gMHr6Yqsv7Jviu" }
  static func number(of id: some StringProtocol) -> Int { Int(id.dropFirst(4).prefix(3)) ?? -1 }
  static func path(_ number: Int) -> String { "/api/bookmarks/\(id(number))" }
  static func body(_ number: Int) -> String { path(number) + "/article" }
  static func image(_ image: Int, of number: Int) -> String { "/img/\(id(number))-\(image)" }

  static func image(_ count: Int) -> LocalServer.Answer {
    .init(200, ["Content-Type": "image/png"], body: Data(repeating: 7, count: count))
  }

  static func moment(_ number: Int) -> String {
    // As in the real service, a fraction has no zeros at its end, and is absent if it is zero.
    let fractions = ["", ".6", ".646333268", ".64"]
    return "2025-04-03T19:\(10 + number / 50):\(10 + number % 50)\(fractions[number % 4])Z"
  }

  func answer(_ request: LocalServer.Received) -> LocalServer.Answer {
    with(undated(request)) { $0.fields["Date"] = HTTPDate(clock.now).text }
  }

  private func undated(_ request: LocalServer.Received) -> LocalServer.Answer {
    if request.bare.hasPrefix("/img") { return images.withLock { $0[request.path] } ?? .init(404) }
    guard request.fields["authorization"] == "Bearer \(Self.token)" else { return .init(401) }
    if request.bare == "/api/bookmarks" {
      let isUnread = request.parameter("is_archived") == "false"
      let listed = isUnread ? pages.filter { !$0.isArchived } : pages
      let limit = request.parameter("limit").flatMap { Int($0) } ?? 50
      return .init(
        200, ["Total-Count": "\(listed.count)"], json: listed.prefix(limit).map(\.bookmark))
    }
    let number = Self.number(of: request.bare.dropFirst("/api/bookmarks/".count))
    guard let page = page(number) else {
      return .init(404, json: #"{"status":404,"message":"no"}"#)
    }
    if request.method != "GET" { return edit(number, request) }
    guard request.bare.hasSuffix("/article") else { return .init(json: page.bookmark) }
    // The tag must match exactly. As in the real service, the 304 has no validators.
    if request.fields["if-none-match"] == page.entityTag { return .init(304) }
    let fields = [
      "Content-Type": "text/html; charset=utf-8", "ETag": page.entityTag,
      "Last-Modified": "Fri, 04 Apr 2025 14:09:22 GMT", "Cache-Control": "private, must-revalidate",
    ]
    return .init(200, fields, text: page.html)
  }

  /// Makes a change through the API. The page gets a time of change that is later than the times of all other pages.
  private func edit(_ number: Int, _ request: LocalServer.Received) -> LocalServer.Answer {
    if request.method == "DELETE" {
      remove(number)
      return .init(204)
    }
    let fields = try? JSONSerialization.jsonObject(with: request.body) as? [String: Any]
    change(number) { page in
      page.isArchived = fields?["is_archived"] as? Bool ?? page.isArchived
      page.isMarked = fields?["is_marked"] as? Bool ?? page.isMarked
      page.progress = fields?["read_progress"] as? Int ?? page.progress
      page.updated = "2027-01-01T00:00:0\(fields?.count ?? 0)Z"
    }
    return .init(json: "{}")
  }
}
