#if HTTP
  import HTTPTypes

  /// The directives of a request (RFC 9111, 5.2.1 and 5.4; RFC 5861, 4).
  struct RequestDirectives: Equatable {
    var noCache: Bool
    var noStore: Bool
    var onlyIfCached: Bool
    /// The greatest accepted age; nil for any age. An invalid value counts as 0, which demands validation.
    var maxAge: Int?
    var minFresh: Int
    /// The greatest accepted staleness; nil if no stale response is accepted, the largest number for any staleness.
    var maxStale: Int?
    var staleIfError: Int?

    init(_ fields: HTTPFields) {
      let control = CacheControl(fields)
      noCache = control.has("no-cache")
      noStore = control.has("no-store")
      onlyIfCached = control.has("only-if-cached")
      maxAge = control.has("max-age") ? control.seconds("max-age").orZero : nil
      minFresh = control.seconds("min-fresh").orZero
      staleIfError = control.seconds("stale-if-error").value
      maxStale = control.directives.first { $0.name == "max-stale" }.map {
        $0.argument == nil ? .max : control.seconds("max-stale").orZero
      }
      // HTTP/1.0 clients send only `Pragma`, so `Pragma` counts only if the request has no `Cache-Control`.
      if !fields.contains(.cacheControl) {
        noCache = fields.members(of: .pragma).contains { $0.lowercased() == "no-cache" }
      }
    }
  }

  /// The directives of a response for one kind of cache (RFC 9111, section 5.2.2; RFC 5861; RFC 8246; RFC 9213).
  struct ResponseDirectives: Equatable {
    var noStore: Bool
    var noCache: Bool
    /// The names, in lower case, of fields that may not be reused: from `no-cache="..."` and, in a shared cache, `private="..."`.
    var unusableFields: Set<String>
    var mustRevalidate: Bool
    var mustUnderstand: Bool
    var isPublic: Bool
    /// Whether `private` is for the whole response.
    var isPrivate: Bool
    var immutable: Bool
    /// Whether the directives come from `CDN-Cache-Control`, so that `Expires` has no effect (RFC 9213, section 2.2).
    var ignoresExpires: Bool
    /// The argument of `max-age`; in a shared cache the argument of `s-maxage`, if present.
    var maxAge: CacheControl.Seconds
    var staleWhileRevalidate: Int
    var staleIfError: Int?
    /// Whether a shared cache may store the response to a request with credentials (RFC 9111, section 3.5).
    var allowsSharingWithCredentials: Bool

    init(_ fields: HTTPFields, for kind: HTTPCachePolicy.Kind) {
      let targeted = kind == .shared ? CacheControl(targetedIn: fields) : nil
      let control = targeted ?? CacheControl(fields)
      let unvalidated = control.fieldNames("no-cache")
      let ofUser = control.fieldNames("private")
      noStore = control.has("no-store")
      noCache = unvalidated?.isEmpty ?? false
      unusableFields = unvalidated ?? []
      mustRevalidate = control.has("must-revalidate")
      mustUnderstand = control.has("must-understand")
      isPublic = control.has("public")
      isPrivate = ofUser?.isEmpty ?? false
      immutable = control.has("immutable")
      ignoresExpires = targeted != nil
      maxAge = control.seconds("max-age")
      staleWhileRevalidate = control.seconds("stale-while-revalidate").orZero
      staleIfError = control.seconds("stale-if-error").value
      let sharedAge = control.seconds("s-maxage")
      allowsSharingWithCredentials = isPublic || mustRevalidate || sharedAge != .absent
      if kind == .shared {
        unusableFields.formUnion(ofUser ?? [])
        if sharedAge != .absent { maxAge = sharedAge }
        // `proxy-revalidate` and `s-maxage` forbid a stale response without validation (RFC 9111, 5.2.2.8 and 5.2.2.10).
        if control.has("proxy-revalidate") || sharedAge != .absent { mustRevalidate = true }
      }
    }

    /// Whether a stale response may be used only after validation (RFC 9111, section 4.2.4).
    var forbidsStale: Bool { noCache || mustRevalidate }
  }

  extension CacheControl.Seconds {
    var value: Int? { if case .seconds(let value) = self { value } else { nil } }
    var orZero: Int { value ?? 0 }
  }
#endif
