public import HTTPTypes
import Larder

/// A stored response that answers every plain request of its URI, for as long as it is fresh and no process commits anything.
///
/// A server makes it after a hit and gives many answers from it: without a task, a look at the stored heads or a copy of the
/// body. A request is plain if it is a GET without a body, without user information in its URI and without any of the fields in
/// ``HTTPRules/decisiveFields``.
public final class ReadyAnswer: Sendable {
  private let cache: HTTPCache
  /// All stored responses of the URI, and the place of the one that answers.
  private let held: [StoredVariant]
  private let index: Int
  private let key: String
  private let version: UInt64
  /// The commit that shows these responses and no others.
  private let transaction: UInt64
  private let lifetime: FreshnessLifetime
  private let initialAge: ResponseAge
  private let clock: any LarderClock
  /// Bytes of the body.
  public let bodySize: Int
  /// Whether `Vary` makes the answer depend on further fields. Then it answers only requests with the fields of its own.
  public let isVaried: Bool

  fileprivate init(
    _ index: Int, of held: [StoredVariant], at transaction: UInt64, in cache: HTTPCache
  ) {
    self.cache = cache
    self.held = held
    self.index = index
    self.transaction = transaction
    let response = held[index].response
    key = held[index].key
    version = held[index].version
    lifetime = response.lifetime(policy: cache.rules.policy)
    initialAge = response.age
    clock = cache.clock
    bodySize = response.bodySize
    isVaried = held.contains { !$0.response.vary.fields.isEmpty }
  }

  /// The age of the response now, in seconds; nil if ``HTTPCache/send(_:body:tags:interim:)`` must be asked.
  public var age: Int? {
    let now = clock.now
    guard cache.namespace.store.lastTransaction == transaction,
      held.allSatisfy({ $0.isThere(at: now) })
    else { return nil }
    let freshness = Freshness(lifetime, age: initialAge, received: initialAge.received, at: now)
    return freshness.isFresh ? freshness.age : nil
  }

  /// The result that `send` would return now, without the body; nil if it must be asked.
  public func result(to request: HTTPRequest) -> HTTPCacheResult? {
    guard age != nil,
      case .answer(let answer) = cache.rules.decide(
        request, stored: held.map(\.response), at: clock.now),
      answer.reason == .fresh, answer.body == .stored(index)
    else { return nil }
    return HTTPCacheResult(answer, body: HTTPBody())
  }

  /// Lends the body to `body`, and counts as a hit; nil if `send` must be asked.
  ///
  /// The bytes lie in the memory map of the store, in a snapshot that ends with the call: `body` must not wait.
  public func withBody<Result>(_ body: (Span<UInt8>) throws -> Result) throws -> Result? {
    let result = try cache.namespace.withValue(of: key, version: version) { bytes in
      bytes.count == bodySize ? try body(bytes) : nil
    }
    guard let result = result ?? nil else { return nil }
    cache.counters.countFresh(bytes: bodySize)
    return result
  }
}

extension HTTPCache {
  /// The stored response that answers `request`, and other plain requests of its URI.
  ///
  /// Nil if `request` is not plain, if nothing is stored for it, if the body is longer than 64 KB, if
  /// ``HTTPCachePolicy/principal`` looks at every request, or if only a read of the store could tell. Ask
  /// ``send(_:body:tags:interim:)`` then, and this again after a hit.
  public func readyAnswer(to request: HTTPRequest) -> ReadyAnswer? {
    let transaction = namespace.store.lastTransaction
    let request = request.withEncodedTarget
    guard request.method == .get, rules.policy.principal == nil,
      request.authority?.contains("@") != true,
      !request.headerFields.contains(where: { rules.decisiveFields.contains($0.name) }),
      let key = ResponseKey(request, policy: rules.policy),
      let held = responses.remembered(under: key),
      held.contains(where: { $0.response.parts == nil }),
      case .answer(let answer) = rules.decide(
        request, stored: held.map(\.response), at: clock.now),
      answer.reason == .fresh, case .stored(let index) = answer.body,
      held[index].response.parts == nil, namespace.store.lastTransaction == transaction
    else { return nil }
    return ReadyAnswer(index, of: held, at: transaction, in: self)
  }
}

extension HTTPRules {
  /// The fields of a request that choose its answer from the store, besides those that `Vary` of the response names.
  public var decisiveFields: Set<HTTPField.Name> {
    ClientCondition.fields.union(policy.partitionFields).union([
      .authorization, .cacheControl, .pragma, .range, .ifRange, .ifMatch, .ifUnmodifiedSince,
    ])
  }
}
