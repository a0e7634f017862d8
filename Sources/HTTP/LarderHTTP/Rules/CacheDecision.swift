#if HTTP
  public import HTTPTypes

  /// How a cache handles a request.
  public enum CacheDecision: Sendable, Hashable {
    /// Answer without asking the origin.
    case answer(CacheAnswer)
    /// Answer now, and revalidate in the background with one request for all clients.
    case answerWhileRevalidating(CacheAnswer, CacheForward)
    /// Send a request to the origin.
    case forward(CacheForward)
  }

  /// A response that a cache builds from stored responses.
  public struct CacheAnswer: Sendable, Hashable {
    /// The source of the body.
    public enum Body: Sendable, Hashable {
      /// No body.
      case none
      /// The whole body of the stored response with this index.
      case stored(Int)
      /// The bytes in this range of the stored response with this index. For a 304 and an answer to HEAD the range is empty.
      case part(Int, Range<Int>)
      /// The body of a stored response, joined with the received body.
      case joined(JoinedBody)
    }

    /// Why the cache may answer with a stored response.
    public enum Reason: String, Sendable, Hashable {
      /// The stored response is fresh.
      case fresh
      /// The origin has just confirmed the stored response, or has just sent a response that the client already has.
      case validated
      /// The received part completes the stored response.
      case completed
      /// The stored response is stale, and the client accepts a stale response.
      case staleByRequest = "stale-by-request"
      /// The stored response is stale, and is being validated.
      case staleWhileRevalidating = "stale-while-revalidating"
      /// The stored response is stale, and the origin answered with an error.
      case staleOnError = "stale-on-error"
      /// The stored response is stale, and the origin could not be reached or gave no usable answer.
      case staleDisconnected = "stale-disconnected"
      /// No stored response is usable, and the request has `only-if-cached`: the answer is a 504.
      case onlyIfCached = "only-if-cached"

      /// Whether the answer is stale.
      public var isStale: Bool {
        switch self {
        case .fresh, .validated, .completed, .onlyIfCached: false
        case .staleByRequest, .staleWhileRevalidating, .staleOnError, .staleDisconnected: true
        }
      }
    }

    /// The status and the fields for the client.
    public var response: HTTPResponse
    /// The source of the body.
    public var body: Body
    /// The reason why the cache may give this answer.
    public var reason: Reason
    /// The age in seconds, as in the `Age` field.
    public var age: Int
    /// The remaining freshness in seconds; 0 or negative for a stale response.
    public var remaining: Int

    static let onlyIfCached = CacheAnswer(
      response: HTTPResponse(
        status: .init(code: 504, reasonPhrase: "Gateway Timeout"),
        headerFields: [.contentLength: "0"]),
      body: .none, reason: .onlyIfCached, age: 0, remaining: 0)
  }

  /// Two overlapping or adjoining parts of a whole.
  public struct JoinedBody: Sendable, Hashable {
    /// The index of the stored part.
    public var stored: Int
    /// The place of the stored part in the whole body, in bytes.
    public var storedStart: Int
    /// The place of the received part in the whole body, in bytes.
    public var receivedStart: Int

    /// The joined bytes. Where the parts overlap, the received bytes are used.
    public func joined(stored: [UInt8], received: [UInt8]) -> [UInt8] {
      let before = stored.prefix(max(0, receivedStart - storedStart))
      let after = stored.dropFirst(max(0, receivedStart + received.count - storedStart))
      return before + received + after
    }
  }

  /// A request for the origin, with the stored responses that its answer concerns.
  public struct CacheForward: Sendable, Hashable {
    /// Why the cache could not answer by itself; the names are the values of `fwd` in `Cache-Status` (RFC 9211, 2.2).
    public enum Reason: String, Sendable, Hashable {
      /// A cache does not answer this request, for example because of `If-Match` or of a body, or the request was passed.
      case bypass
      /// The cache does not answer requests with this method.
      case method
      /// No response is stored for the URI.
      case uriMiss = "uri-miss"
      /// The stored responses belong to other field values (`Vary`) or to other users.
      case varyMiss = "vary-miss"
      /// The stored response is fresh, but the request demands a newer response, or the response demands validation.
      case request
      /// The stored response is stale.
      case stale
      /// The stored part does not contain the requested range.
      case partial
    }

    /// The request to send.
    public var request: HTTPRequest
    /// The reason why the cache could not answer by itself.
    public var reason: Reason
    /// The request of the client.
    public let original: HTTPRequest
    /// All stored responses of the URI.
    let stored: [StoredResponse]
    /// The index of the response that the request selects.
    var selected: Int?
    /// The indices of the responses that the request validates.
    var validates: [Int] = []
    /// The index of the stored part that the answer may complete.
    var completes: Int?
    var permission = StalePermission()

    /// Whether the request only validates stored responses.
    public var isConditional: Bool { !validates.isEmpty }

    init(_ request: HTTPRequest, because reason: Reason, stored: [StoredResponse]) {
      self.request = request
      self.reason = reason
      original = request
      self.stored = stored
    }

    /// The client's request without validators of stored responses.
    var unconditional: CacheForward {
      var forward = self
      forward.request = original
      // The cache itself checks the client's condition against the response, so the origin must not evaluate the condition.
      if isConditional || completes != nil {
        forward.request.headerFields.removeAll(ClientCondition.fields)
      }
      forward.validates = []
      forward.completes = nil
      return forward
    }
  }

  /// How a cache handles a response of the origin.
  public struct CacheReception: Sendable {
    /// The next step for the client's request.
    public enum Outcome: Sendable, Hashable {
      /// Pass the response on.
      case pass
      /// Answer the client with this answer in place of the origin's response.
      case answer(CacheAnswer)
      /// The response is unusable: send this request and handle its response.
      case again(CacheForward)
    }

    /// The source of a stored body.
    public enum Body: Sendable, Hashable {
      /// The received body.
      case received
      /// The body of the stored response with this index.
      case stored(Int)
      /// A stored part joined with the received part.
      case joined(JoinedBody)
    }

    /// The next step for the client's request.
    public var outcome: Outcome
    /// The responses to store, with the source of their bodies.
    public var stores: [(response: StoredResponse, body: Body)] = []
    /// The responses to remove, as indices in `forward.stored`. Store first: `stores` may need the body of a removed response.
    public var removes: [Int] = []
    /// The URIs whose stored responses are invalid; remove these responses before storing.
    public var invalidates: [ResponseKey] = []
    /// Further stored responses are invalid, too: all responses with one of these tags.
    var endsTags: [String] = []
    /// Whether all responses of the origin are invalid, too.
    var endsOrigin = false

    /// Whether the answer or a stored response needs the received body.
    var needsReceivedBody: Bool {
      stores.contains { if case .stored = $0.body { false } else { true } }
    }

    init(_ outcome: Outcome) { self.outcome = outcome }

    /// Stores `updated` with the body of the stored response with this index; nil removes the stored response.
    init(_ outcome: Outcome, replacing index: Int, by updated: StoredResponse?) {
      self.outcome = outcome
      if let updated { stores = [(updated, .stored(index))] } else { removes = [index] }
    }
  }
#endif
