public import Foundation
public import HTTPTypes
public import Larder
import LarderHTTP

extension CachedValue {
  /// The conditions of a request that validates the value, with its validators byte for byte; empty without them.
  public var conditions: HTTPFields {
    var fields = HTTPFields()
    if let entityTag { fields[.ifNoneMatch] = String(decoding: entityTag, as: UTF8.self) }
    if let lastModified { fields[.ifModifiedSince] = String(decoding: lastModified, as: UTF8.self) }
    return fields
  }
}

/// A service's answer with its whole body, from the network or the cache.
public struct Reply: Sendable {
  public var status: Int
  public var fields: HTTPFields
  public var body: [UInt8]
  public var path: String
  /// Redirections led to another host or path than was asked: to the login page of a network, for example.
  public var isElsewhere = false
  /// Answered from the cache without a request.
  public var isHit = false
  /// The service answered 304: the stored body is still valid.
  public var isConfirmed = false
  /// Served past its freshness, because the service could not be reached or is still being asked.
  public var isStale = false
  /// Seconds of freshness left; negative if it is stale, nil if it was not stored.
  public var remaining: Int?
  /// In seconds; nil for an answer that has just arrived.
  public var age: Int?

  init(_ response: HTTPResponse, body: [UInt8], path: String) {
    status = response.status.code
    fields = response.headerFields
    (self.body, self.path) = (body, path)
  }

  init(_ result: HTTPCacheResult, body: [UInt8], path: String) {
    self.init(result.response, body: body, path: path)
    isHit = result.isHit
    isConfirmed = result.originStatus == 304 && status != 304
    isStale = result.reason?.isStale ?? false
    remaining = result.remaining
    age = result.age
  }

  /// How long the service asks to wait: `Retry-After` as seconds or as a date (RFC 9110, 10.2.3), else the second in
  /// `X-Rate-Limit-Reset`; nil if it has neither, negative for a time that has passed.
  ///
  /// A date is compared with the answer's own `Date`, so a wrong clock on either side does not matter.
  public func wait(at now: Timestamp) -> Duration? {
    if let text = fields[.retryAfter] {
      if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
        return .seconds(min(Int64(text) ?? .max, 1 << 31))
      }
      if let end = HTTPDate(strictly: text, now: now)?.timestamp {
        return (date(at: now) ?? now).duration(to: end)
      }
    }
    guard let name = HTTPField.Name("X-Rate-Limit-Reset"),
      let second = fields[name].flatMap({ Int64($0) }), (0...1 << 40).contains(second)
    else { return nil }
    return now.duration(to: Timestamp(milliseconds: second * 1000))
  }

  /// The second in which the service made the answer, by its own clock; nil without a `Date`.
  public func date(at now: Timestamp) -> Timestamp? {
    fields[.date].flatMap { HTTPDate(strictly: $0, now: now)?.timestamp }
  }

  /// The body; nil if it is not JSON.
  public var json: JSON? {
    do { return try JSONDecoder().decode(JSON.self, from: Data(body)) } catch { return nil }
  }

  /// The validators, to be stored with what was decoded.
  public var validators: EntryAttributes {
    var attributes = EntryAttributes()
    attributes.entityTag = fields[.eTag].map { Array($0.utf8) }
    attributes.lastModified = fields[.lastModified].map { Array($0.utf8) }
    return attributes
  }

  public func decoded<Value: Decodable>(
    _ type: Value.Type, decoder: JSONDecoder = JSONDecoder(),
    fault: (Value) -> String? = { _ in nil }
  ) throws(ServiceError) -> Value {
    let value: Value
    do {
      value = try decoder.decode(type, from: Data(body))
    } catch {
      if isPage { throw ServiceError.wrongContent(path: path, type: "a web page") }
      throw ServiceError.undecodable(
        path: path, reason: (error as? DecodingError)?.words ?? "\(error)")
    }
    if let reason = fault(value) { throw ServiceError.undecodable(path: path, reason: reason) }
    return value
  }

  /// The answer itself if its type is that of an image, or of bytes, and its body is no web page. Throws for other content, such as a
  /// login page, and for an empty one.
  public func image() throws(ServiceError) -> Reply {
    if body.isEmpty { throw ServiceError.undecodable(path: path, reason: "it is empty") }
    let type = contentType ?? "image/"
    guard type.hasPrefix("image/") || type.hasSuffix("/octet-stream"),
      !isPage || type == "image/svg+xml"
    else { throw ServiceError.wrongContent(path: path, type: isPage ? "a web page" : type) }
    return self
  }

  /// In lower case and without parameters; nil if it is not given.
  public var contentType: String? {
    let type = (fields[.contentType] ?? "").lowercased().prefix { $0 != ";" }.filter { $0 != " " }
    return type.isEmpty ? nil : type
  }

  /// Whether the body is HTML, by its type or its first character.
  public var isPage: Bool {
    ["text/html", "application/xhtml+xml"].contains(contentType)
      || body.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "<")
  }
}
