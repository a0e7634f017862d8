import ExampleTesting

/// The catalog's service by its contract: pages by cursor, validators by page, errors with codes.
final class FakeCatalog: Sendable {
  struct Item: Sendable {
    var slug, title: String
    var pillar: Int?
    var tier = "basic"
    /// The time of the last change of the item, in seconds since a fixed moment.
    var updated = 0

    /// The cursor of the page after this item.
    var cursor: String { Data("\(title), \(slug)".utf8).base64EncodedString() }

    var json: String {
      """
      {"id": "id-\(slug)", "slug": "\(slug)", "title": "\(title)", "subtitle": null, "est_duration_min": 5, \
      "description": "\(String(repeating: "what it is about ", count: 20))"}
      """
    }
  }

  struct State: Sendable {
    var items: [Item] = []
    /// The status of a refusal that replaces each answer of the catalog.
    var refusal: Int?
    var refusesCursors = false
    /// The field that distinguishes versions of a page; nil for no such field.
    var validator: String? = "ETag"

    /// The items of a tier in the catalog's order. If the tier is nil, the items of all tiers.
    func listed(_ tier: String?) -> [Item] {
      items.filter { tier == nil || $0.tier == tier }.sorted {
        ($0.title.lowercased(), $0.slug) < ($1.title.lowercased(), $1.slug)
      }
    }
  }

  private let state = Mutex(State())

  func change<Result: Sendable>(_ body: @Sendable (inout State) -> Result) -> Result {
    state.withLock { body(&$0) }
  }

  /// Makes `count` funnels the whole catalog. Every fourth funnel has no pillar.
  func fill(_ count: Int) {
    change { state in
      state.items = (0..<count).map { number in
        let title = "\(number.isMultiple(of: 2) ? "Funnel" : "funnel") \(String(1000 + number))"
        return Item(
          slug: "f-\(number)", title: title, pillar: number % 4 == 3 ? nil : number % 4,
          tier: number.isMultiple(of: 3) ? "plus" : "basic", updated: number % 7)
      }
    }
  }

  func answer(_ request: LocalServer.Received) -> LocalServer.Answer {
    let state = change { $0 }
    guard ["Bearer one", "Bearer two"].contains(request.fields["authorization"]) else {
      return error(401, "UNAUTHORIZED", "Please sign in.")
    }
    if let refusal = state.refusal { return error(refusal, "NO", "Not for you.") }
    let parts = request.bare.split(separator: "/").dropFirst()
    switch (request.method, parts.count) {
    case ("GET", 2): return page(request, state)
    case ("GET", 3):
      let seconds = parts.last == "definition" ? 600 : 300
      return cached(request, "{}", ["ETag": "\"\(request.bare):v1\""], seconds: seconds)
    case ("GET", _): return .init(200, ["Cache-Control": "no-store"], json: #"{"data": {}}"#)
    default: return .init(200, ["Cache-Control": "max-age=600"], json: #"{"data": {}}"#)
    }
  }

  private func page(_ request: LocalServer.Received, _ state: State) -> LocalServer.Answer {
    let limit = min(Int(request.parameter("limit") ?? "") ?? 50, 100)
    var rest = state.listed(request.parameter("tier"))[...]
    if let cursor = request.parameter("cursor") {
      guard !state.refusesCursors, let last = rest.firstIndex(where: { $0.cursor == cursor }) else {
        return error(400, "INVALID_CURSOR", "Pagination cursor is invalid or expired.")
      }
      rest = rest[(last + 1)...]
    }
    let items = rest.prefix(limit)
    let next = items.count < rest.count ? items.last.map { "\"\($0.cursor)\"" } : nil
    func funnels(of pillar: Int?) -> String {
      "[" + items.filter { $0.pillar == pillar }.map(\.json).joined(separator: ",") + "]"
    }
    // Every page names all pillars.
    let pillars = ["Sleep", "Movement", "Mind"].enumerated().map { index, title in
      #"{"pillar": {"id": "p\#(index)", "title": "\#(title)"}, "funnels": \#(funnels(of: index))}"#
    }
    let data = """
      {"pillars": [\(pillars.joined(separator: ","))], "uncategorized_funnels": \(funnels(of: nil)), \
      "pagination": {"limit": \(limit), "hasMore": \(next != nil), "nextCursor": \(next ?? "null")}}
      """
    // By the contract, the tag has the newest change on the page, the number of funnels and the last slug.
    let newest = items.map(\.updated).max() ?? 0
    let validators = [
      "ETag": "\"funnels:v1:\(newest)-\(items.count)-\(items.last?.slug ?? "")\"",
      "Last-Modified": "Thu, 01 Jan 2026 00:\(10 + newest / 60):\(10 + newest % 60 / 2) GMT",
    ]
    return cached(request, data, validators.filter { $0.key == state.validator })
  }

  private func cached(
    _ request: LocalServer.Received, _ data: String, _ validators: [String: String],
    seconds: Int = 300
  ) -> LocalServer.Answer {
    let control = "public, max-age=\(seconds), must-revalidate"
    let fields = validators.merging(["Cache-Control": control]) { $1 }
    let conditions = ["ETag": "if-none-match", "Last-Modified": "if-modified-since"]
    let isKnown = validators.contains { request.fields[conditions[$0.key] ?? ""] == $0.value }
    return isKnown ? .init(304, fields) : .init(200, fields, json: #"{"data": \#(data)}"#)
  }

  private func error(_ status: Int, _ code: String, _ message: String) -> LocalServer.Answer {
    .init(status, json: #"{"error": {"code": "\#(code)", "message": "\#(message)"}}"#)
  }
}
