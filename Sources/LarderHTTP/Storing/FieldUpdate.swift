import HTTPTypes
import Larder

extension HTTPFields {
  /// Fields that describe the stored body. A response without that body does not update them: servers send wrong values in a
  /// 304 (RFC 9111, 3.2).
  static let ofTheBody: Set<HTTPField.Name> = [
    .contentLength, .contentEncoding, .contentType, .contentRange,
  ]

  /// These fields of a stored response, updated by those of a newer answer (RFC 9111, 3.2).
  ///
  /// Without `Age` in the newer one the old age is removed; without `Date` the time of arrival is used.
  func updated(by newer: HTTPFields, received: Timestamp) -> HTTPFields {
    var result = self
    let newer = newer.endToEnd
    var changed: Set<HTTPField.Name> = []
    for field in newer where !Self.ofTheBody.contains(field.name) {
      if changed.insert(field.name).inserted { result[fields: field.name] = [] }
      result.append(field)
    }
    if !newer.contains(.age) { result[.age] = nil }
    if !newer.contains(.date) { result[.date] = HTTPDate(received).text }
    return result
  }

  /// The fields to store: without connection fields, the fields that `no-cache="..."` or `private="..."` name, and cookies
  /// unless the policy stores them (RFC 9111, 3.1, 5.2.2.4 and 5.2.2.7).
  func storable(_ directives: ResponseDirectives, policy: HTTPCachePolicy) -> HTTPFields {
    var result = endToEnd
    result.removeAll(Set(directives.unusableFields.compactMap { HTTPField.Name($0) }))
    if !policy.storesCookies {
      result.removeAll([.setCookie, .setCookie2])
    }
    return result
  }
}
