import HTTPTypes
import Larder

/// What a client says it has already (RFC 9110, 13.1.2 and 13.1.3; RFC 9111, 4.3.2).
struct ClientCondition {
  private let tags: [Substring]?
  private let date: String?

  /// Nil where the request has no condition that a cache evaluates.
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

  /// Whether the client has what is stored. Tags take precedence, even where none of them is known.
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
    // Without a Last-Modified, it was last seen to change when it was made.
    let modified =
      HTTPDate(of: .lastModified, in: stored.fields, now: stored.received) ?? stored.date
    return modified <= since
  }
}
