#if HTTP
  public import HTTPTypes
  import Larder

  /// A stored response that answers plain requests of its URI, as long as it stays fresh and no process writes to the store.
  ///
  /// A server makes a ready answer after a hit, and answers many requests with it. Each of these answers needs no task, no look
  /// at the stored heads and no copy of the body. A plain request is a GET without a body, without user information in its URI
  /// and without fields of ``HTTPRules/decisiveFields``.
  public final class ReadyAnswer: Sendable {
    private let cache: HTTPCache
    /// The stored response. Other responses of the URI are not held: until the next write, equal requests select this response.
    private let variant: StoredVariant
    /// The fields of the request; nil if any plain request of the URI selects the response.
    private let selecting: HTTPFields?
    /// The time at which the last of the URI's stored responses was written.
    private let written: Timestamp
    private let expires: Timestamp?
    /// The newest write at the time when the responses were read; see `EntryReader.moment`.
    private let transaction: UInt64
    private let lifetime: FreshnessLifetime
    private let initialAge: ResponseAge
    private let clock: any LarderClock
    /// The number of bytes of the body.
    public let bodySize: Int
    /// Whether the answer depends on further fields by `Vary`. If so, only a request with equal values in these fields gets it.
    public let isVaried: Bool

    fileprivate init(
      _ index: Int, of held: [StoredVariant], to request: HTTPRequest, at transaction: UInt64,
      in cache: HTTPCache
    ) {
      self.cache = cache
      self.transaction = transaction
      variant = held[index]
      written = held.map(\.written).max() ?? variant.written
      expires = held.compactMap(\.expires).min()
      lifetime = variant.response.lifetime(policy: cache.rules.policy)
      initialAge = variant.response.age
      clock = cache.clock
      bodySize = variant.response.bodySize
      isVaried = held.contains { !$0.response.vary.fields.isEmpty }
      selecting = isVaried ? request.headerFields : nil
    }

    /// The age of the response now, in seconds; nil if only ``HTTPCache/send(_:body:tags:interim:)`` can answer.
    public var age: Int? {
      let now = clock.now
      guard cache.namespace.store.lastCommit == transaction, written <= now,
        expires.map({ now < $0 }) != false
      else { return nil }
      let freshness = Freshness(lifetime, age: initialAge, at: now)
      return freshness.isFresh ? freshness.age : nil
    }

    /// The result that `send` would return now to a plain request of the URI, without its body; nil if only `send` can answer.
    public func result(to request: HTTPRequest) -> HTTPCacheResult? {
      let request = request.adding(cache.addedFields)
      guard age != nil, selecting == nil || selecting == request.headerFields,
        case .answer(let answer) = cache.rules.decide(
          request, stored: [variant.response], at: clock.now),
        answer.reason == .fresh, answer.body == .stored(0)
      else { return nil }
      return HTTPCacheResult(answer, body: HTTPBody())
    }

    /// Lends the stored body to the closure `body`, and counts a hit; nil if only `send` can answer.
    ///
    /// The bytes are in the memory map of the store, in a snapshot that ends with the call, so `body` must not wait.
    public func withBody<Result>(_ body: (Span<UInt8>) throws -> Result) throws -> Result? {
      let result = try cache.namespace.withValue(of: variant.key, version: variant.version) {
        bytes in bytes.count == bodySize ? try body(bytes) : nil
      }
      guard let result = result ?? nil else { return nil }
      cache.counters.countFresh(bytes: bodySize)
      return result
    }
  }

  extension HTTPCache {
    /// The stored response that answers `request`, and may answer other plain requests of its URI.
    ///
    /// Nil if `request` is not plain, if no fresh response to it is stored, or if the body is longer than 64 KB. Also nil if
    /// ``HTTPCachePolicy/principal`` looks at every request, or if the answer needs a read of the store. If the result is nil,
    /// call ``send(_:body:tags:interim:)``, and call this method again after a hit.
    public func readyAnswer(to request: HTTPRequest) -> ReadyAnswer? {
      let transaction = namespace.store.lastCommit
      let request = request.adding(addedFields).withEncodedTarget
      guard request.method == .get, rules.policy.principal == nil,
        request.authority?.utf8.contains(UInt8(ascii: "@")) != true,
        !request.headerFields.contains(where: { rules.decisiveFields.contains($0.name) }),
        let key = ResponseKey(request, policy: rules.policy),
        let held = responses.remembered(under: key),
        held.contains(where: { $0.response.parts == nil }),
        case .answer(let answer) = rules.decide(
          request, stored: held.map(\.response), at: clock.now),
        answer.reason == .fresh, case .stored(let index) = answer.body,
        held[index].response.parts == nil, namespace.store.lastCommit == transaction
      else { return nil }
      return ReadyAnswer(index, of: held, to: request, at: transaction, in: self)
    }
  }

  extension HTTPRules {
    /// The fields of a request that choose its answer from the store, besides the fields that `Vary` of the response names.
    public var decisiveFields: Set<HTTPField.Name> {
      ClientCondition.fields.union(policy.partitionFields).union([
        .authorization, .cacheControl, .pragma, .range, .ifRange, .ifMatch, .ifUnmodifiedSince,
      ])
    }
  }
#endif
