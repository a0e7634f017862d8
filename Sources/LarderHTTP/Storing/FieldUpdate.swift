import HTTPTypes
import Larder

extension HTTPFields {
  /// Fields that tell how the stored body is to be read: what a later answer without that body says of them is not
  /// believed (RFC 9111, 3.2; servers are known to get them wrong in a 304).
  static let ofTheBody: Set<HTTPField.Name> = [
    .contentLength, .contentEncoding, .contentType, .contentRange,
  ]

  /// These fields of a stored response, updated by those of a newer answer (RFC 9111, 3.2).
  ///
  /// An age that the newer one does not state is gone with the old exchange, and a date is that of its arrival.
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

  /// Without what is not to be stored: fields of the connection, those that `no-cache="..."` names, and cookies unless
  /// the policy keeps them (RFC 9111, 3.1 and 5.2.2.4).
  func storable(_ directives: ResponseDirectives, policy: HTTPCachePolicy) -> HTTPFields {
    var result = endToEnd
    result.removeAll(Set(directives.noCacheFields.compactMap { HTTPField.Name($0) }))
    if !policy.storesCookies { result.removeAll([.setCookie, .setCookie2]) }
    return result
  }
}
