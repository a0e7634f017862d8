import HTTPTypes

/// The directives of a request (RFC 9111, 5.2.1 and 5.4; RFC 5861, 4).
struct RequestDirectives: Equatable {
  enum Stale: Equatable {
    case no
    /// By at most so many seconds.
    case seconds(Int)
    case any
  }

  var noCache: Bool
  var noStore: Bool
  var onlyIfCached: Bool
  /// The greatest age; nil for any. An invalid value counts as 0, which demands validation.
  var maxAge: Int?
  var minFresh: Int
  var maxStale: Stale
  /// Nil where the request does not state it.
  var staleIfError: Int?

  init(_ fields: HTTPFields) {
    let control = CacheControl(fields)
    noCache = control.has("no-cache")
    noStore = control.has("no-store")
    onlyIfCached = control.has("only-if-cached")
    maxAge =
      switch control.seconds("max-age") {
      case .absent: nil
      case .seconds(let value): value
      case .invalid: 0
      }
    minFresh = control.seconds("min-fresh").orZero
    staleIfError = control.seconds("stale-if-error").value
    if let directive = control.directives.first(where: { $0.name == "max-stale" }) {
      maxStale =
        directive.argument == nil ? .any : .seconds(control.seconds("max-stale").orZero)
    } else {
      maxStale = .no
    }
    // `Pragma` counts only without `Cache-Control`: HTTP/1.0 clients send nothing else.
    if !fields.contains(.cacheControl) {
      noCache = fields.members(of: .pragma).contains { $0.lowercased() == "no-cache" }
    }
  }
}
