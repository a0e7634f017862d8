#if HTTP
  public import HTTPTypes
  public import Larder

  /// An entity tag as received: opaque, and kept even if it is malformed (RFC 9110, 8.8.3).
  struct EntityTag: Equatable {
    let text: String

    init(_ text: some StringProtocol) { self.text = String(text) }

    init?(_ fields: HTTPFields) {
      guard let line = fields.lines(of: .eTag).first, !line.isEmpty else { return nil }
      self.init(line)
    }

    var isWeak: Bool { text.utf8.starts(with: "W/".utf8) }

    private var opaque: Substring.UTF8View { text.utf8.dropFirst(isWeak ? 2 : 0) }

    static func == (left: EntityTag, right: EntityTag) -> Bool {
      left.text.hasBytes(of: right.text)
    }

    /// Whether the tags match in a weak comparison: equal, even if one or both are weak (RFC 9110, 8.8.3.2).
    func matchesWeakly(_ other: EntityTag) -> Bool { opaque.elementsEqual(other.opaque) }

    func matchesStrongly(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && self == other }

    /// Whether a newer response with this tag confirms a stored response with `other` (RFC 9111, 4.3.4). A strong tag confirms
    /// only an equal strong tag. A weak tag confirms a strong or weak tag with the same text.
    func confirms(_ other: EntityTag) -> Bool {
      isWeak ? matchesWeakly(other) : matchesStrongly(other)
    }

    /// Whether parts with this tag can be joined: the tag is quoted and strong.
    var isStrong: Bool { !isWeak && text[...].isQuoted }
  }

  extension Validators {
    /// The validators of a response.
    public init(of response: HTTPResponse) {
      self.init(
        entityTag: response.headerFields[fields: .eTag].first?.valueBytes,
        lastModified: response.headerFields[fields: .lastModified].first?.valueBytes)
    }
  }

  extension CachedValue {
    /// The fields of a request that asks whether the value is still current, with the validators byte for byte; empty without
    /// validators. If the origin answers with 304, return ``Loaded/unchanged``.
    public var conditionalFields: HTTPFields {
      var fields = HTTPFields()
      if let entityTag = validators.entityTag {
        fields.append(HTTPField(name: .ifNoneMatch, lenientValue: entityTag))
      }
      if let lastModified = validators.lastModified {
        fields.append(HTTPField(name: .ifModifiedSince, lenientValue: lastModified))
      }
      return fields
    }
  }

  /// The condition that a client sends about the response that it has (RFC 9110, 13.1.2 and 13.1.3; RFC 9111, 4.3.2).
  struct ClientCondition {
    private let tags: [Substring]?
    private let date: String?

    /// Reads the condition; nil for a request without a condition that a cache evaluates.
    init?(_ fields: HTTPFields) {
      tags = fields.contains(.ifNoneMatch) ? fields.members(of: .ifNoneMatch) : nil
      date = fields[values: .ifModifiedSince].first
      if tags == nil, date == nil { return nil }
    }

    static let fields: Set<HTTPField.Name> = [.ifNoneMatch, .ifModifiedSince]

    /// Whether the request has a condition that only the origin can evaluate.
    static func isForOrigin(_ fields: HTTPFields) -> Bool {
      fields.contains(.ifMatch) || fields.contains(.ifUnmodifiedSince)
    }

    /// Whether the client already has the stored response. If the client sent entity tags, its date has no effect.
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
      // Without `Last-Modified`, the date of the response counts as the date of its last change.
      let modified =
        HTTPDate(of: .lastModified, in: stored.fields, now: stored.received) ?? stored.date
      return modified <= since
    }
  }

  /// Requests that ask the origin whether stored responses are still valid (RFC 9111, 4.3.1 and 4.3.4).
  enum Validation {
    /// `request` with the validators of `stored`, byte for byte, instead of the client's own conditions.
    static func request(_ request: HTTPRequest, of stored: [StoredResponse]) -> HTTPRequest {
      var request = request
      request.headerFields.removeAll(ClientCondition.fields)
      let tagged = stored.compactMap { stored in
        stored.fields[fields: .eTag].first.flatMap { $0.value.isEmpty ? nil : $0 }
      }
      if !tagged.isEmpty {
        // The tags are joined as bytes, because a tag may be invalid UTF-8.
        let value = Array(tagged.map(\.valueBytes).joined(separator: [0x2C, 0x20]))
        request.headerFields.append(HTTPField(name: .ifNoneMatch, lenientValue: value))
      }
      if stored.count == 1, var field = stored[0].fields[fields: .lastModified].first {
        field.name = .ifModifiedSince
        request.headerFields.append(field)
      }
      return request
    }

    /// The index of the response that a 304 confirms, among the responses that the request named; nil if no response is certain.
    ///
    /// A 304 with an entity tag confirms the response with that tag. Some servers omit the tag, against RFC 9110 (15.4.5). A 304
    /// without a tag must fit exactly one named response: `Last-Modified` is equal in both, or missing in one of them.
    static func confirmed(_ fields: HTTPFields, among stored: [StoredResponse]) -> Int? {
      if let tag = EntityTag(fields) {
        return stored.firstIndex { $0.entityTag.map(tag.confirms) ?? false }
          ?? stored.firstIndex { $0.entityTag.map(tag.matchesWeakly) ?? false }
      }
      let candidates = stored.indices.filter { index in
        guard let modified = fields.lines(of: .lastModified).first else { return true }
        return stored[index].lastModified.map { $0.hasBytes(of: modified) } ?? true
      }
      return candidates.count == 1 ? candidates[0] : nil
    }
  }

  extension StoredResponse {
    /// The response with the fields of the origin's answer that are not stored but are for the client, such as `Set-Cookie`.
    func forClient(_ answer: HTTPResponse) -> StoredResponse {
      var full = self
      full.response.headerFields = fields.updated(by: answer.headerFields, received: received)
      return full
    }
  }

  extension HTTPFields {
    /// Fields that describe the stored body. A 304 or HEAD must not change them: servers send wrong values (RFC 9111, 3.2).
    static let ofTheBody: Set<HTTPField.Name> = [
      .contentLength, .contentEncoding, .contentType, .contentRange, .contentDigest,
    ]

    /// The fields of a stored response after an update by the fields of a newer answer (RFC 9111, 3.2).
    ///
    /// If the newer answer has no `Age`, the earlier `Age` is removed. Without a newer `Date`, the time of arrival is used.
    func updated(by newer: HTTPFields, received: Timestamp) -> HTTPFields {
      var newer = newer.endToEnd
      newer.removeAll(Self.ofTheBody)
      var result = self
      result.removeAll(Set(newer.map(\.name)))
      result.append(contentsOf: newer)
      if !newer.contains(.age) { result[.age] = nil }
      if !newer.contains(.date) { result[.date] = HTTPDate(received).text }
      return result
    }

    /// The fields to store: no connection fields, and no fields that `no-cache="..."` or `private="..."` names. Cookies are
    /// stored only if the policy allows that (RFC 9111, 3.1, 5.2.2.4 and 5.2.2.7).
    func storable(_ directives: ResponseDirectives, policy: HTTPCachePolicy) -> HTTPFields {
      var result = endToEnd
      result.removeAll(Set(directives.unusableFields.compactMap { HTTPField.Name($0) }))
      if !policy.storesCookies { result.removeAll([.setCookie, .setCookie2]) }
      return result
    }
  }
#endif
