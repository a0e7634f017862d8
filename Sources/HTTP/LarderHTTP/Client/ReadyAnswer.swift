#if HTTP
  public import HTTPTypes
  import Larder

  /// A stored response that answers every plain request of its URI, for as long as it is fresh and no process commits anything.
  ///
  /// A server makes it after a hit and gives many answers from it: without a task, a look at the stored heads or a copy of the
  /// body. A request is plain if it is a GET without a body, without user information in its URI and without any of the fields in
  /// ``HTTPRules/decisiveFields``.
  public final class ReadyAnswer: Sendable {
    private let cache: HTTPCache
    /// The stored response. Of the others of its URI nothing is held: the same request selects the same one until the next commit.
    private let response: StoredResponse
    /// The fields of the request; nil where any plain request of the URI selects the response.
    private let selecting: HTTPFields?
    /// When all stored responses of the URI are there.
    private let written: Timestamp
    private let expires: Timestamp?
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
      _ index: Int, of held: [StoredVariant], to request: HTTPRequest, at transaction: UInt64,
      in cache: HTTPCache
    ) {
      self.cache = cache
      self.transaction = transaction
      response = held[index].response
      written = held.map(\.written).max() ?? held[index].written
      expires = held.compactMap(\.expires).min()
      key = held[index].key
      version = held[index].version
      lifetime = response.lifetime(policy: cache.rules.policy)
      initialAge = response.age
      clock = cache.clock
      bodySize = response.bodySize
      let isVaried = held.contains { !$0.response.vary.fields.isEmpty }
      self.isVaried = isVaried
      selecting = isVaried ? request.headerFields : nil
    }

    /// The age of the response now, in seconds; nil if ``HTTPCache/send(_:body:tags:interim:)`` must be asked.
    public var age: Int? {
      let now = clock.now
      guard cache.namespace.store.lastTransaction == transaction, written <= now,
        expires.map({ now < $0 }) != false
      else { return nil }
      let freshness = Freshness(lifetime, age: initialAge, received: initialAge.received, at: now)
      return freshness.isFresh ? freshness.age : nil
    }

    /// The result that `send` would return now, without the body; nil if it must be asked.
    public func result(to request: HTTPRequest) -> HTTPCacheResult? {
      guard age != nil, selecting == nil || selecting == request.headerFields,
        case .answer(let answer) = cache.rules.decide(request, stored: [response], at: clock.now),
        answer.reason == .fresh, answer.body == .stored(0)
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
        request.authority?.utf8.contains(UInt8(ascii: "@")) != true,
        !request.headerFields.contains(where: { rules.decisiveFields.contains($0.name) }),
        let key = ResponseKey(request, policy: rules.policy),
        let held = responses.remembered(under: key),
        held.contains(where: { $0.response.parts == nil }),
        case .answer(let answer) = rules.decide(
          request, stored: held.map(\.response), at: clock.now),
        answer.reason == .fresh, case .stored(let index) = answer.body,
        held[index].response.parts == nil, namespace.store.lastTransaction == transaction
      else { return nil }
      return ReadyAnswer(index, of: held, to: request, at: transaction, in: self)
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
#endif
