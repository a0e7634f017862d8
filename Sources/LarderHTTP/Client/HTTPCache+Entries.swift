public import HTTPTypes
import Larder

/// A response and its source.
public struct HTTPCacheResult: Sendable {
  /// The status and the fields.
  public var response: HTTPResponse
  /// The body, which can be read once.
  public var body: HTTPBody
  /// Why the cache could answer; nil for the origin's response.
  public var reason: CacheAnswer.Reason?
  /// Why the origin was asked; nil if it was not.
  public var forwarded: CacheForward.Reason?
  /// The status of the origin's response.
  public var originStatus: Int?
  /// Whether the response is stored.
  public var isStored = false
  /// Whether the response will be stored at the end of its body, if that comes whole and the store has room.
  public var isBeingStored = false
  /// Whether the request waited for the exchange of another client.
  public var isCollapsed = false
  /// The age in seconds; nil for the origin's response.
  public var age: Int?
  /// The remaining freshness in seconds, negative if stale; nil for the origin's response that is not stored.
  public var remaining: Int?

  /// Whether the cache answered without asking the origin.
  public var isHit: Bool { reason != nil && forwarded == nil }

  init(_ response: HTTPResponse, body: HTTPBody) {
    self.response = response
    self.body = body
  }

  init(_ answer: CacheAnswer, body: HTTPBody) {
    self.init(answer.response, body: body)
    reason = answer.reason
    age = answer.age
    remaining = answer.remaining
  }
}

/// Stored responses by their requests, without the origin.
extension HTTPCache {
  /// The stored response that `request` selects, fresh or stale; nil without one.
  ///
  /// An inspection: it counts neither as a read nor as an access, and `Cache-Control` of the request has no effect.
  /// ``HTTPCacheResult/remaining`` is negative for a stale response. O(stored responses of the URI).
  ///
  /// - Parameter requestBody: the body of the request, for ``HTTPCacheRule/bodyMethods``.
  public func peek(
    _ request: HTTPRequest, requestBody: [UInt8] = []
  ) throws -> HTTPCacheResult? {
    let request = request.withEncodedTarget
    let held = try held(under: key(of: request, requestBody), except: [])
    let selection = Selection(request, stored: held.map(\.response), policy: rules.policy)
    guard let index = selection.best else { return nil }
    let answer = rules.answer(
      request, from: index, of: held[index].response, because: .fresh, at: clock.now)
    let body = held[index].body
    var result: HTTPCacheResult
    switch answer.body {
    case .none, .joined: result = HTTPCacheResult(answer, body: HTTPBody())
    case .stored: result = HTTPCacheResult(answer, body: rest(of: body, 0..<body.count))
    case .part(_, let range): result = HTTPCacheResult(answer, body: rest(of: body, range))
    }
    if answer.remaining <= 0 { result.reason = .staleByRequest }
    return result
  }

  /// Stores `response` as if the origin had just sent it to `request`, and replaces the stored response to it.
  ///
  /// - Parameters:
  ///   - requestBody: the body of the request, for ``HTTPCacheRule/bodyMethods``.
  ///   - body: at most ``HTTPCachePolicy/largestBody`` bytes.
  ///   - tags: as for ``send(_:body:tags:interim:)``.
  /// - Returns: false if the rules do not allow to store it (RFC 9111, section 3), or the body is too long.
  /// - Throws: ``HTTPCacheError/tooManyFields(_:)``, or `LarderError` if the store fails.
  @discardableResult
  public func put(
    _ response: HTTPResponse, body: [UInt8], for request: HTTPRequest, requestBody: [UInt8] = [],
    tags: [String] = []
  ) async throws -> Bool {
    for tag in tags { _ = try EntryAttributes.validated(tag) }
    let fields = max(request.headerFields.count, response.headerFields.count)
    guard fields <= HTTPCacheError.largestFieldCount else {
      throw HTTPCacheError.tooManyFields(fields)
    }
    let request = request.withEncodedTarget
    guard request.method == .get || rules.storesByBody(request),
      body.count <= rules.policy.largestBody
    else { return false }
    let key = key(of: request, requestBody)
    let now = clock.now
    let permit = permits.issue(self.tags(of: request, under: key, tags))
    let arrival = Arrival(
      response: response, key: key, forward: CacheForward(request, because: .request, stored: []),
      requested: now, received: now, held: try held(under: key, except: []), tags: tags,
      permit: permit)
    return try await keep(
      receive(arrival, bodySize: body.count), of: arrival, received: .whole(body))
      != nil
  }

  private func key(of request: HTTPRequest, _ body: [UInt8]) -> ResponseKey? {
    var key = ResponseKey(request, policy: rules.policy)
    if rules.storesByBody(request) {
      key?.bodyDigest = ResponseKey.digest(of: body, in: request, policy: rules.policy)
    }
    return key
  }
}
