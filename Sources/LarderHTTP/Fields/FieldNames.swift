public import HTTPTypes

extension HTTPField.Name {
  static let pragma = Self("Pragma")!
  static let keepAlive = Self("Keep-Alive")!
  static let proxyConnection = Self("Proxy-Connection")!
  static let contentMD5 = Self("Content-MD5")!
  static let setCookie2 = Self("Set-Cookie2")!
  static let cdnCacheControl = Self("CDN-Cache-Control")!
}

extension HTTPFields {
  /// Fields that end at the next hop whatever `Connection` says (RFC 9110, 7.6.1), and those of proxies
  /// (RFC 9111, 3.1).
  static let hopByHop: Set<HTTPField.Name> = [
    .connection, .keepAlive, .proxyConnection, .te, .trailer, .transferEncoding, .upgrade,
    .proxyAuthenticate, .proxyAuthenticationInfo, .proxyAuthorization,
  ]

  /// Without the fields of the connection it came over, those named by `Connection` included.
  ///
  /// A field that caching relies on stays even where it is named there.
  public var endToEnd: HTTPFields {
    guard contains(where: { Self.hopByHop.contains($0.name) }) else { return self }
    let named = Set(members(of: .connection).compactMap { HTTPField.Name(String($0)) })
    var fields = HTTPFields()
    for field in self where !Self.hopByHop.contains(field.name) {
      if !named.contains(field.name) || Self.indispensable.contains(field.name) {
        fields.append(field)
      }
    }
    return fields
  }

  private static let indispensable: Set<HTTPField.Name> = [.cacheControl, .date, .age, .vary]

  mutating func removeAll(_ names: Set<HTTPField.Name>) {
    let kept = filter { !names.contains($0.name) }
    if kept.count != count { self = HTTPFields(kept) }
  }
}
