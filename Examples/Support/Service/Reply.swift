import Foundation
public import HTTPTypes
public import Larder
import LarderHTTP

/// A service's answer with its whole body, from the network or the cache.
public struct Reply: Sendable {
  let request: HTTPRequest
  let result: HTTPCacheResult
  public var body: [UInt8]
  public var path: String { request.path ?? "/" }
  public var status: Int { result.response.status.code }
  public var fields: HTTPFields { result.response.headerFields }
  public var isHit: Bool { result.isHit }
  /// Whether the service answered 304: the stored body is still valid.
  public var isConfirmed: Bool { result.originStatus == 304 && status != 304 }
  /// Whether the answer is past its freshness, because the service is unreachable or the refresh is not complete.
  public var isStale: Bool { result.reason?.isStale ?? false }

  var words: String {
    let age = result.age.map { ", \($0) s old" } ?? ""
    if isStale { return "stale" + age }
    if isHit { return "hit" + age }
    return isConfirmed ? "confirmed by the service" : "from the service, \(status)"
  }

  public var text: String { String(decoding: body, as: UTF8.self) }
  /// The body; nil if it is not JSON.
  public var json: JSON? { try? JSONDecoder().decode(JSON.self, from: Data(body)) }

  public var validators: Validators { Validators(of: result.response) }

  /// The second in which the service made the answer, by its own clock; nil without a `Date`.
  public func date(at now: Timestamp) -> Timestamp? {
    fields[.date].flatMap { HTTPDate(strictly: $0, now: now)?.timestamp }
  }

  /// The body if its type is an image or any bytes. Throws for other content, such as a login page, and for an empty body.
  public func image() throws(ServiceError) -> [UInt8] {
    if body.isEmpty { throw .undecodable(path: path, reason: "it is empty") }
    let type = contentType ?? "image/"
    guard type.hasPrefix("image/") || type.hasSuffix("/octet-stream"),
      !isPage || type == "image/svg+xml"
    else { throw .wrongContent(path: path, type: isPage ? "a web page" : type) }
    return body
  }

  /// The content type in lower case and without parameters; nil if it is missing.
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
