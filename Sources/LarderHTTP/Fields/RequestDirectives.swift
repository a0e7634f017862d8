import HTTPTypes

/// What a request asks of a cache (RFC 9111, 5.2.1 and 5.4; RFC 5861, 4).
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
  /// The greatest age; nil for any. One that cannot be read is 0: the request wanted something newer than it may get.
  var maxAge: Int?
  var minFresh: Int
  var maxStale: Stale
  var staleIfError: Int

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
    staleIfError = control.seconds("stale-if-error").orZero
    if let directive = control.directives.first(where: { $0.name == "max-stale" }) {
      maxStale =
        directive.argument == nil ? .any : .seconds(control.seconds("max-stale").orZero)
    } else {
      maxStale = .no
    }
    // HTTP/1.0 clients have no other word, and everybody else's counts before it.
    if !fields.contains(.cacheControl) {
      noCache = fields.members(of: .pragma).contains { $0.lowercased() == "no-cache" }
    }
  }
}
