public import HTTPTypes
public import Larder
import LarderHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A service's answer with all of its body, from wherever it came.
public struct Reply: Sendable {
  public var status: Int
  public var fields: HTTPFields
  public var body: [UInt8]
  public var path: String
  /// Whether the service was not asked for it.
  public var isHit: Bool
  /// Whether the service was asked, and said that what is stored is still right.
  public var isConfirmed: Bool
  /// Whether it is past its freshness, because the service could not be reached or is still being asked.
  public var isStale: Bool
  /// For how many seconds it is fresh; negative if it is past that, and nil for what is not stored.
  public var remaining: Int?
  /// In seconds; nil for what has just come.
  public var age: Int?

  /// An answer that has just come.
  init(_ response: HTTPResponse, body: [UInt8], path: String) {
    status = response.status.code
    fields = response.headerFields
    self.body = body
    self.path = path
    isHit = false
    isConfirmed = false
    isStale = false
  }

  init(_ result: HTTPCacheResult, body: [UInt8], path: String) {
    status = result.response.status.code
    fields = result.response.headerFields
    self.body = body
    self.path = path
    isHit = result.isHit
    isConfirmed = result.originStatus == 304 && result.response.status.code != 304
    isStale = result.reason?.isStale ?? false
    remaining = result.remaining
    age = result.age
  }

  /// How long the service said to wait; nil if it did not say, or named a date.
  public var retryAfter: Duration? {
    fields[.retryAfter].flatMap { Int($0) }.map { .seconds(max($0, 0)) }
  }

  /// The same, or until the second that `X-Rate-Limit-Reset` names.
  public func wait(at now: Timestamp) -> Duration? {
    if let retryAfter { return retryAfter }
    guard let name = HTTPField.Name("X-Rate-Limit-Reset"),
      let second = fields[name].flatMap({ Int64($0) })
    else { return nil }
    return max(.zero, now.duration(to: Timestamp(milliseconds: 0).advanced(by: .seconds(second))))
  }

  public func decoded<Value: Decodable>(
    _ type: Value.Type, decoder: JSONDecoder = JSONDecoder()
  ) throws(ServiceError) -> Value {
    do {
      return try decoder.decode(type, from: Data(body))
    } catch {
      // Without the query, which may hold a key.
      throw ServiceError.undecodable(path: String(path.prefix { $0 != "?" }), reason: "\(error)")
    }
  }
}
