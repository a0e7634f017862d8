import ExampleTesting

/// The catalog's service by its contract: pages by cursor, validators by page, errors with codes.
final class FakeCatalog: Sendable {
  struct Item: Sendable {
    var slug: String
    var title: String
    var pillar: Int?
    var tier = "basic"
    /// When the item was changed, in seconds since some moment.
    var updated = 0
  }

  /// The fields that distinguish versions of a page.
  enum Validators: CaseIterable, Sendable { case tags, dates, none }

  struct State: Sendable {
    var items: [Item] = []
    /// The status of a refusal that replaces each answer of the catalog.
    var refusal: Int?
    var refusesCursors = false
    var validators = Validators.tags
    /// Changes by the number of the request, counted from 1. Each runs once, before that request is answered.
    var changes: [Int: @Sendable (inout State) -> Void] = [:]
    var count = 0

    /// The items of a tier in the catalog's order; of all tiers for nil.
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

  /// Adds `count` funnels, spread over the pillars; every fourth funnel has no pillar.
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
    let state = state.withLock { state in
      state.count += 1
      state.changes[state.count]?(&state)
      return state
    }
    guard ["Bearer one", "Bearer two"].contains(request.fields["authorization"]) else {
      return error(401, "UNAUTHORIZED", "Please sign in.")
    }
    if let refusal = state.refusal { return error(refusal, "NO", "Not for you.") }
    let parts = request.bare.split(separator: "/").map(String.init).dropFirst()
    switch (request.method, parts.count) {
    case ("GET", 2): return page(request, state)
    case ("GET", 3) where parts.last == "definition":
      return cached(
        request, ["slug": parts[2]], ["ETag": "\"definition:v1:\(parts[2])\""], seconds: 600)
    case ("GET", 3):
      return cached(request, ["slug": parts[3]], ["ETag": "\"funnel:\(parts[3]):v1\""])
    case ("GET", _):
      return .init(
        200, ["Cache-Control": "no-store"], json: ["success": true, "data": ["step": state.count]])
    default:
      return .init(
        200, ["Cache-Control": "max-age=600"], json: ["success": true, "data": ["id": "a1"]])
    }
  }

  /// Base 64 of title and slug: the same funnel always has the same cursor.
  private static func cursor(_ item: Item) -> String {
    Data("{\"title\":\"\(item.title)\",\"slug\":\"\(item.slug)\"}".utf8).base64EncodedString()
  }

  private func page(_ request: LocalServer.Received, _ state: State) -> LocalServer.Answer {
    let limit = min(Int(request.parameter("limit") ?? "") ?? 50, 100)
    let all = state.listed(request.parameter("tier"))
    var first = 0
    if let text = request.parameter("cursor") {
      let last = all.firstIndex { Self.cursor($0) == text }
      guard !state.refusesCursors, let last else {
        return error(400, "INVALID_CURSOR", "Pagination cursor is invalid or expired.")
      }
      first = last + 1
    }
    let items = all.dropFirst(first).prefix(limit)
    let hasMore = first + items.count < all.count
    var cursor: Any = NSNull()
    if hasMore, let last = items.last { cursor = Self.cursor(last) }
    func funnel(_ item: Item) -> [String: Any] {
      [
        "id": "id-" + item.slug, "slug": item.slug, "title": item.title, "subtitle": NSNull(),
        "description": String(repeating: "what it is about ", count: 20), "est_duration_min": 5,
      ]
    }
    // Every page names all pillars.
    let pillars: [[String: Any]] = ["Sleep", "Movement", "Mind"].enumerated().map { index, title in
      [
        "pillar": ["id": "p\(index)", "title": title, "sort_order": index] as [String: Any],
        "funnels": items.filter { $0.pillar == index }.map(funnel),
      ]
    }
    let data: [String: Any] = [
      "pillars": pillars, "uncategorized_funnels": items.filter { $0.pillar == nil }.map(funnel),
      "pagination": ["limit": limit, "hasMore": hasMore, "nextCursor": cursor] as [String: Any],
    ]
    // By the contract, the tag has the newest change on the page, the number of funnels and the last slug.
    let newest = items.map(\.updated).max() ?? 0
    let tag = "\"funnels:v1:\(newest)-\(items.count)-\(items.last?.slug ?? "")\""
    let date = "Thu, 01 Jan 2026 00:\(10 + newest / 60):\(10 + newest % 60 / 2) GMT"
    let validator =
      switch state.validators {
      case .tags: ["ETag": tag]
      case .dates: ["Last-Modified": date]
      case .none: [String: String]()
      }
    return cached(request, data, validator)
  }

  private func cached(
    _ request: LocalServer.Received, _ data: [String: Any], _ validator: [String: String],
    seconds: Int = 300
  ) -> LocalServer.Answer {
    let control = "public, max-age=\(seconds), must-revalidate"
    let fields = validator.merging(["Cache-Control": control]) { $1 }
    let conditions = [
      "ETag": request.fields["if-none-match"], "Last-Modified": request.fields["if-modified-since"],
    ]
    if !validator.isEmpty, validator.allSatisfy({ conditions[$0.key] == $0.value }) {
      return .init(304, fields)
    }
    return .init(200, fields, json: ["success": true, "data": data])
  }

  private func error(_ status: Int, _ code: String, _ message: String) -> LocalServer.Answer {
    .init(status, json: ["success": false, "error": ["code": code, "message": message]])
  }
}
