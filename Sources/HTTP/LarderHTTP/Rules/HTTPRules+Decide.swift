#if HTTP
  public import HTTPTypes
  public import Larder

  extension HTTPRules {
    /// Decides how to answer `request`, given all stored responses of its URI.
    ///
    /// - Complexity: O(stored responses).
    public func decide(
      _ request: HTTPRequest, stored: [StoredResponse], at now: Timestamp
    ) -> CacheDecision {
      let wish = RequestDirectives(request.headerFields)
      let refusal: CacheDecision? = wish.onlyIfCached ? .answer(.onlyIfCached) : nil
      let isByBody = storesByBody(request)
      guard request.method == .get || request.method == .head || isByBody else {
        return refusal ?? .forward(CacheForward(request, because: .method, stored: stored))
      }
      if wish.noStore || ClientCondition.isForOrigin(request.headerFields)
        || isByBody
          && (ClientCondition(request.headerFields) != nil || request.headerFields.contains(.range))
      {
        return refusal ?? .forward(CacheForward(request, because: .bypass, stored: stored))
      }
      let selection = Selection(request, stored: stored, policy: policy)
      guard let index = selection.best else {
        return refusal ?? .forward(miss(request, stored: stored, selection: selection))
      }
      return decide(request, wish: wish, stored: stored, selected: index, at: now)
    }

    /// Whether the body of the request is part of the key of its responses (``HTTPCacheRule/bodyMethods``).
    func storesByBody(_ request: HTTPRequest) -> Bool {
      request.method != .get && request.method != .head
        && policy.rule(for: request)?.bodyMethods.contains(request.method) == true
    }

    /// The key of the responses to a request. For some methods, the body of the request is part of the key.
    func key(of request: HTTPRequest, body: [UInt8]?) -> ResponseKey? {
      var key = ResponseKey(request, policy: policy)
      if let body, storesByBody(request) {
        key?.bodyDigest = ResponseKey.digest(of: body, in: request, policy: policy)
      }
      return key
    }

    private func decide(
      _ request: HTTPRequest, wish: RequestDirectives, stored: [StoredResponse], selected: Int,
      at now: Timestamp
    ) -> CacheDecision {
      let response = stored[selected]
      let freshness = Freshness(of: response, at: now, policy: policy)
      if isUsable(response, freshness, wish) {
        return .answer(answer(request, from: selected, of: response, because: .fresh, freshness))
      }
      let permission =
        wish.noCache
        ? StalePermission()
        : StalePermission(of: response, freshness: freshness, for: wish, policy: policy)
      if permission.byRequest, !freshness.isFresh {
        return .answer(
          answer(request, from: selected, of: response, because: .staleByRequest, freshness))
      }
      var forward = CacheForward(
        request, because: freshness.isFresh ? .request : .stale, stored: stored)
      forward.select(selected)
      forward.permission = permission
      if permission.whileRevalidating, !freshness.isFresh {
        let answer = answer(
          request, from: selected, of: response, because: .staleWhileRevalidating, freshness)
        return wish.onlyIfCached
          ? .answer(answer) : .answerWhileRevalidating(answer, background(forward))
      }
      return wish.onlyIfCached ? .answer(.onlyIfCached) : .forward(forward)
    }

    /// Whether the response may be served without validation (RFC 9111, 4).
    private func isUsable(
      _ response: StoredResponse, _ freshness: Freshness, _ wish: RequestDirectives
    ) -> Bool {
      let directives = response.directives(for: policy.kind)
      guard freshness.isFresh, !directives.noCache, !wish.noCache else { return false }
      // RFC 8246: a reload (max-age=0) does not revalidate an immutable response.
      if wish.maxAge == 0, !directives.immutable { return false }
      if let most = wish.maxAge, most > 0, freshness.age > most { return false }
      return freshness.left >= wish.minFresh
    }

    /// The most entity tags in a conditional request, because origins limit the size of a head.
    private static let largestTagCount = 8

    /// The credential that a stored response must have to answer `request`. In a shared cache, responses have no credential.
    func credential(of request: HTTPRequest) -> String? {
      policy.kind == .shared ? nil : Principal(request, policy: policy).digest
    }

    private func miss(
      _ request: HTTPRequest, stored: [StoredResponse], selection: Selection
    ) -> CacheForward {
      if let part = selection.part { return completion(request, stored: stored, of: part) }
      var forward = CacheForward(
        request, because: stored.isEmpty ? .uriMiss : .varyMiss, stored: stored)
      let fields = request.headerFields
      guard request.method == .get, ByteRange.parse(fields) == nil, ClientCondition(fields) == nil
      else { return forward }
      // 4.3.1: the origin may confirm a variant that this request does not select, so the request has the tags of the variants.
      let credential = credential(of: request)
      // In a private cache with names of users, equal credentials prove that the user is the same.
      let isNamed = policy.kind == .private && policy.principal?(request) != nil
      var selecting = SelectingFields(fields, policy: policy)
      let others = stored.indices.filter { index in
        stored[index].entityTag?.isStrong == true && stored[index].part == nil
          && stored[index].credential == credential && mayUse(stored[index])
          && selecting.canDecode(stored[index].fields)
          && (isNamed || stored[index].vary.hasUser(of: &selecting, policy: policy))
      }.sorted { stored[$0].received > stored[$1].received }.prefix(Self.largestTagCount)
      if !others.isEmpty { forward.validate(Array(others)) }
      return forward
    }

    /// A request for the missing part, if a strong validator can prove that the parts belong together (RFC 9111, 3.4).
    private func completion(
      _ request: HTTPRequest, stored: [StoredResponse], of index: Int
    ) -> CacheForward {
      var forward = CacheForward(request, because: .partial, stored: stored)
      forward.selected = index
      let fields = request.headerFields
      guard request.method == .get, !fields.contains(.range), ClientCondition(fields) == nil,
        stored[index].entityTag?.isStrong == true, let part = stored[index].part,
        // A whole body that is too long to be stored is not joined in memory either.
        part.whole <= policy.largestBody, let missing = part.missing,
        var tag = stored[index].fields[fields: .eTag].first
      else { return forward }
      tag.name = .ifRange
      forward.completes = index
      forward.request.headerFields[.range] = missing
      forward.request.headerFields.append(tag)
      return forward
    }

    /// The background request that refreshes a stale response. The request asks for the whole response, not for a range.
    private func background(_ forward: CacheForward) -> CacheForward {
      var request = forward.original
      if request.method == .head { request.method = .get }
      request.headerFields.removeAll(ClientCondition.fields.union([.range, .ifRange]))
      var background = CacheForward(request, because: .stale, stored: forward.stored)
      if let selected = forward.selected { background.select(selected) }
      return background
    }

    /// The indices of the stored responses that the user and the fields of the request select.
    func selected(by request: HTTPRequest, among stored: [StoredResponse]) -> [Int] {
      let credential = credential(of: request)
      var selecting = SelectingFields(request.headerFields, policy: policy)
      return stored.indices.filter { index in
        stored[index].credential == credential && mayUse(stored[index])
          && stored[index].vary.matches(&selecting, response: stored[index].fields)
      }
    }
  }

  extension CacheForward {
    /// Notes the selected response. A GET validates it; a HEAD is forwarded unchanged, and its response updates or removes it.
    fileprivate mutating func select(_ index: Int) {
      selected = index
      if request.method == .get, stored[index].hasValidators { validate([index]) }
    }

    fileprivate mutating func validate(_ indices: [Int]) {
      validates = indices
      request = Validation.request(request, of: indices.map { stored[$0] })
    }
  }

  /// The stored responses of a URI that a request selects (RFC 9111, 4 and 4.1).
  struct Selection {
    /// The newest whole response. If there is no whole response, the newest part that covers the requested range.
    let best: Int?
    /// If ``best`` is nil, the newest stored part of the selected representation.
    let part: Int?

    init(_ request: HTTPRequest, stored: [StoredResponse], policy: HTTPCachePolicy) {
      let fields = request.headerFields
      let selected = HTTPRules(policy: policy).selected(by: request, among: stored)
      let newest = { (indices: [Int]) in indices.max { stored[$0].isOlder(than: stored[$1]) } }
      let parts = selected.filter { stored[$0].response.status.code == 206 }
      let whole = newest(selected.filter { stored[$0].response.status.code != 206 })
      let wanted = request.method == .get ? ByteRange.parse(fields) : nil
      let fitting = parts.filter { index in
        guard let part = stored[index].part, wanted?.count == 1, let range = wanted?.first,
          let bytes = range.resolved(in: part.whole)
        else { return false }
        return part.bytes.contains(bytes.lowerBound) && part.bytes.contains(bytes.upperBound)
          && stored[index].allowsRange(fields)
      }
      best = whole ?? newest(fitting)
      part = best == nil ? newest(parts) : nil
    }
  }
#endif
