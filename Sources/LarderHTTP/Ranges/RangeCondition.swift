import HTTPTypes
import Larder

extension StoredResponse {
  /// Whether `If-Range` lets a part of this be given, rather than the whole (RFC 9110, 13.1.5).
  ///
  /// A tag must be the same and strong; a date must be exactly `Last-Modified`, and that be strong by its distance from
  /// `Date`.
  func allowsRange(_ request: HTTPFields) -> Bool {
    guard let condition = request[values: .ifRange].first else { return true }
    if let tag = entityTag, tag.matchesStrongly(EntityTag(condition)) { return true }
    guard let lastModified, lastModified == condition,
      let modified = HTTPDate(leniently: lastModified, now: received)
    else { return false }
    return date.seconds - modified.seconds >= 60
  }

  /// Whether parts of this and of `other` are parts of the same whole (RFC 9110, 15.3.7.3).
  func isSameWhole(as other: HTTPFields) -> Bool {
    guard let tag = entityTag, let newer = EntityTag(other), tag.isStrong else { return false }
    return tag.matchesStrongly(newer)
  }
}
