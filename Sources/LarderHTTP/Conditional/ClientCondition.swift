import HTTPTypes
import Larder

/// The condition that a client sends for the response it has (RFC 9110, 13.1.2 and 13.1.3; RFC 9111, 4.3.2).
struct ClientCondition {
  private let tags: [Substring]?
  private let date: String?

  /// Nil for a request without a condition that a cache evaluates.
  init?(_ fields: HTTPFields) {
    tags = fields.contains(.ifNoneMatch) ? fields.members(of: .ifNoneMatch) : nil
    date = fields[values: .ifModifiedSince].first
    if tags == nil, date == nil { return nil }
  }

  static let fields: Set<HTTPField.Name> = [.ifNoneMatch, .ifModifiedSince]

  /// Conditions that only the origin can evaluate.
  static func isForOrigin(_ fields: HTTPFields) -> Bool {
    fields.contains(.ifMatch) || fields.contains(.ifUnmodifiedSince)
  }

  /// Whether the client has the stored response. Entity tags take precedence, also if the cache knows none of them.
  func isMet(by stored: StoredResponse) -> Bool {
    guard (200...299).contains(stored.response.status.code) else { return false }
    if let tags {
      if tags.contains("*") { return true }
      guard let tag = stored.entityTag else { return false }
      return tags.contains { EntityTag($0).matchesWeakly(tag) }
    }
    guard let date, let since = HTTPDate(leniently: date, now: stored.received) else {
      return false
    }
    // Without Last-Modified, the date of the response stands for its last change.
    let modified =
      HTTPDate(of: .lastModified, in: stored.fields, now: stored.received) ?? stored.date
    return modified <= since
  }
}
