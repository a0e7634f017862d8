import HTTPTypes

/// What a response allows a private cache (RFC 9111, 5.2.2; RFC 5861; RFC 8246).
///
/// `s-maxage` and `proxy-revalidate` speak to shared caches and are not here; nor is `private`, which forbids nothing to
/// a private one.
struct ResponseDirectives: Equatable {
  var noStore: Bool
  /// To be validated before every use.
  var noCache: Bool
  /// Fields that may not be used again, in lower case; those of `no-cache="..."`.
  var noCacheFields: Set<String>
  var mustRevalidate: Bool
  var mustUnderstand: Bool
  var isPublic: Bool
  var isPrivate: Bool
  var immutable: Bool
  var maxAge: CacheControl.Seconds
  var staleWhileRevalidate: Int
  var staleIfError: Int

  init(_ fields: HTTPFields) {
    let control = CacheControl(fields)
    let unusable = control.fieldNames("no-cache")
    noStore = control.has("no-store")
    noCache = unusable?.isEmpty ?? false
    noCacheFields = unusable ?? []
    mustRevalidate = control.has("must-revalidate")
    mustUnderstand = control.has("must-understand")
    isPublic = control.has("public")
    isPrivate = control.has("private")
    immutable = control.has("immutable")
    maxAge = control.seconds("max-age")
    staleWhileRevalidate = control.seconds("stale-while-revalidate").orZero
    staleIfError = control.seconds("stale-if-error").orZero
  }

  /// Whether nothing but the origin's word may let it be used once it is stale (RFC 9111, 4.2.4).
  var forbidsStale: Bool { noCache || mustRevalidate }
}

extension CacheControl.Seconds {
  var orZero: Int { if case .seconds(let value) = self { value } else { 0 } }
}
