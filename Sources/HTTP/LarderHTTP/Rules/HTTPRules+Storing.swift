#if HTTP
  import HTTPTypes
  import Larder

  extension HTTPRules {
    /// The response in the form to store; nil if it may not be stored, or is not worth storing (RFC 9111, 3).
    func stored(_ exchange: Exchange) -> StoredResponse? {
      let (response, request) = (exchange.response, exchange.forward.original)
      let (bodySize, received) = (exchange.bodySize, exchange.received)
      let directives = ResponseDirectives(response.headerFields, for: policy.kind)
      let credential = Principal(request, policy: policy).digest
      let isByBody = storesByBody(request)
      guard request.method == .get || isByBody || isPostOfItself(request, response),
        isStorable(response.status, directives),
        isIndependent(response.status, of: request.headerFields),
        allowsSharing(directives, credential: credential),
        !RequestDirectives(request.headerFields).noStore,
        let vary = VaryKey(of: response.headerFields, request: request.headerFields, policy: policy)
      else { return nil }
      var stored = StoredResponse(
        response: response, requested: exchange.requested, received: received,
        bodySize: bodySize ?? 0, vary: vary, credential: policy.kind == .shared ? nil : credential)
      stored.response.headerFields = response.headerFields.storable(directives, policy: policy)
      if !stored.fields.contains(.date) {
        stored.response.headerFields[.date] = HTTPDate(received).text
      }
      if response.status.code == 206 {
        // Such a request is forwarded even if the whole response is stored, which the part must not replace.
        guard exchange.forward.reason != .bypass, let part = stored.part,
          part.count == bodySize ?? part.count
        else { return nil }
      }
      if let rule = policy.rule(for: request) {
        guard rule.allows(response) else { return nil }
        stored.assignedFreshness = assignedFreshness(rule, response, received: received)
      }
      let lifetime = stored.lifetime(policy: policy)
      let isCacheable =
        lifetime.isExplicit
        || !isByBody
          && (directives.isPublic || directives.isPrivate && policy.kind == .private
            || FreshnessLifetime.isHeuristicallyCacheable(response.status))
      guard isCacheable, stored.keptUntil(policy: policy) > received else { return nil }
      return stored
    }

    /// The freshness in seconds that a rule assigns to a response; nil if the response's own freshness applies.
    func assignedFreshness(
      _ rule: HTTPCacheRule, _ response: HTTPResponse, received: Timestamp
    ) -> Int? {
      let stated = FreshnessLifetime(response, received: received, policy: policy)
      let isEstimated = FreshnessLifetime.isHeuristicallyCacheable(response.status)
      let usual = isEstimated ? rule.freshness ?? rule.defaultFreshness : nil
      return (stated.isExplicit ? rule.freshness : usual).map {
        Int(clamping: min(max(0, $0.wholeSeconds), Int64(DeltaSeconds.most)))
      }
    }

    /// Whether the response would be equal without the conditions and the range of its request. An error that answers a
    /// condition or a range is for that request alone.
    private func isIndependent(_ status: HTTPResponse.Status, of request: HTTPFields) -> Bool {
      if status.code == 412 || status.code == 416 { return false }
      let isPart = request.contains(.range) || request.contains(.ifRange)
      if status.code == 206 { return isPart }
      return status.code == 200 || !isPart && !ClientCondition.isForOrigin(request)
    }

    /// Whether this cache may store the response; a shared cache stores it for all users (RFC 9111, 3.5 and 5.2.2.7).
    func allowsSharing(_ directives: ResponseDirectives, credential: String?) -> Bool {
      guard policy.kind == .shared else { return true }
      return !directives.isPrivate && (credential == nil || directives.allowsSharingWithCredentials)
    }

    /// Whether this cache may use a stored response: a private cache may have stored the response in the same namespace.
    func mayUse(_ stored: StoredResponse) -> Bool {
      if policy.kind == .private { return true }
      let directives = stored.directives(for: policy.kind)
      return isStorable(stored.response.status, directives)
        && allowsSharing(directives, credential: stored.credential)
        && (policy.storesCookies || !stored.fields.contains(.setCookie))
        && !stored.fields.contains { directives.unusableFields.contains($0.name.canonicalName) }
    }

    /// Whether the directives allow storing. 5.2.2.3: `must-understand` replaces `no-store` if the status is understood.
    func isStorable(_ status: HTTPResponse.Status, _ directives: ResponseDirectives) -> Bool {
      guard status.code >= 200, status.code != 304 else { return false }
      return directives.mustUnderstand ? Self.understands(status) : !directives.noStore
    }

    /// Whether this cache knows and follows the rules of a final status (RFC 9111, 5.2.2.3).
    private static func understands(_ status: HTTPResponse.Status) -> Bool {
      switch status.code {
      case 200...206, 300...303, 307, 308, 400...418, 421, 422, 426, 428, 429, 431, 451, 500...505,
        511:
        true
      default: false
      }
    }

    /// Whether the answer to a POST also answers a GET of its URI, while the answer is fresh (RFC 9110, 9.3.3).
    private func isPostOfItself(_ request: HTTPRequest, _ response: HTTPResponse) -> Bool {
      guard request.method == .post, response.status.code == 200,
        let location = response.headerFields[values: .contentLocation].first,
        let target = ResponseKey(request, policy: policy),
        Invalidation.resolve(location, against: request, policy: policy)?.uri == target.uri
      else { return false }
      let now = Timestamp(milliseconds: 0)
      return FreshnessLifetime(response, received: now, policy: policy).isExplicit
    }
  }
#endif
