import HTTPTypes
import LarderHTTP

/// A response with its field `Cache-Status` (RFC 9211), which tells how the cache answered the request.
struct CacheStatus {
  private static let name = HTTPField.Name("Cache-Status")!

  var response: HTTPResponse
  let text: String

  init(_ result: HTTPCacheResult) {
    response = result.response
    var parts = ["larder"]
    if result.reason == .onlyIfCached {
      parts.append("detail=only-if-cached")
    } else if let forwarded = result.forwarded {
      parts.append("fwd=\(forwarded.rawValue)")
      if let status = result.originStatus { parts.append("fwd-status=\(status)") }
      if result.isStored { parts.append("stored") }
    } else {
      parts.append("hit")
    }
    if result.isCollapsed { parts.append("collapsed") }
    if let remaining = result.remaining { parts.append("ttl=\(remaining)") }
    if let reason = result.reason, reason.isStale { parts.append("detail=\(Self.word(reason))") }
    text = parts.joined(separator: "; ")
  }

  private static func word(_ reason: CacheAnswer.Reason) -> String {
    switch reason {
    case .staleOnError: "stale-if-error"
    case .staleDisconnected: "stale-disconnected"
    case .staleWhileRevalidating: "stale-while-revalidate"
    default: "max-stale"
    }
  }

  /// Adds a member. Each cache adds one member, and the cache nearest to the client adds the last member.
  func append(to fields: inout HTTPFields) {
    fields.append(HTTPField(name: Self.name, value: text))
  }
}
