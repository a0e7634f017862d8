#if HTTP
  import HTTPTypes
  import Larder

  /// The freshness of a stored response at a time (RFC 9111, 4.2).
  struct Freshness: Equatable {
    let lifetime: FreshnessLifetime
    /// The age in seconds.
    let age: Int
    /// Whether the time of arrival is more than a minute after the clock's present time, so that the age is unknown.
    let isFromTheFuture: Bool

    init(of stored: StoredResponse, at now: Timestamp, policy: HTTPCachePolicy) {
      self.init(stored.lifetime(policy: policy), age: stored.age, at: now)
    }

    init(_ lifetime: FreshnessLifetime, age: ResponseAge, at now: Timestamp) {
      self.lifetime = lifetime
      self.age = age.seconds(at: now)
      isFromTheFuture = now.advanced(by: .seconds(60)) < age.received
    }

    /// The remaining seconds of freshness; 0 or negative for a stale response.
    var left: Int { isFromTheFuture ? -DeltaSeconds.most : lifetime.seconds - age }

    /// Whether the response is fresh. At an age equal to the lifetime the response is stale.
    var isFresh: Bool { left > 0 }
  }

  /// The freshness lifetime of a response and its source (RFC 9111, 4.2.1 and 4.2.2).
  struct FreshnessLifetime: Equatable {
    enum Source: Equatable {
      /// A field of the response, or a rule of the application.
      case explicit
      case heuristic
      /// There is no source: the response is never fresh.
      case none
    }

    let seconds: Int
    let source: Source

    var isExplicit: Bool { source == .explicit }

    init(_ response: HTTPResponse, received: Timestamp, policy: HTTPCachePolicy) {
      let fields = response.headerFields
      let directives = ResponseDirectives(fields, for: policy.kind)
      if directives.maxAge != .absent {
        // 4.2.1: an invalid or contradictory value makes the response stale.
        self.init(directives.maxAge.orZero, .explicit)
      } else if fields.contains(.expires), !directives.ignoresExpires {
        self.init(Self.untilExpires(fields, received: received), .explicit)
      } else if let seconds = Self.heuristic(
        response, directives: directives, received: received, policy: policy)
      {
        self.init(seconds, .heuristic)
      } else {
        self.init(0, .none)
      }
    }

    init(_ seconds: Int, _ source: Source) {
      self.seconds = seconds
      self.source = source
    }

    /// The seconds until `Expires`. If the date is invalid, or several dates differ, the response is already stale (5.3).
    private static func untilExpires(_ fields: HTTPFields, received: Timestamp) -> Int {
      let lines = Set(fields[values: .expires])
      guard lines.count == 1, let line = lines.first,
        let expires = HTTPDate(strictly: line, now: received)
      else { return 0 }
      let date = HTTPDate(of: .date, in: fields, now: received) ?? HTTPDate(received)
      return Int(clamping: min(Int64(DeltaSeconds.most), max(0, expires.seconds - date.seconds)))
    }

    /// A tenth of the time since the last modification, at most ``HTTPCachePolicy/longestHeuristic``.
    private static func heuristic(
      _ response: HTTPResponse, directives: ResponseDirectives, received: Timestamp,
      policy: HTTPCachePolicy
    ) -> Int? {
      let fields = response.headerFields
      guard isHeuristicallyCacheable(response.status) || directives.isPublic,
        !fields.members(of: .pragma).contains(where: { $0.lowercased() == "no-cache" }),
        let modified = HTTPDate(of: .lastModified, in: fields, now: received)
      else { return nil }
      let date = HTTPDate(of: .date, in: fields, now: received) ?? HTTPDate(received)
      let unchanged = max(0, date.seconds - modified.seconds)
      return Int(clamping: min(unchanged / 10, max(0, policy.longestHeuristic.wholeSeconds)))
    }

    /// Whether a cache may estimate the freshness of responses with this status (RFC 9110, section 15.1).
    static func isHeuristicallyCacheable(_ status: HTTPResponse.Status) -> Bool {
      [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status.code)
    }
  }

  extension HTTPDate {
    /// Reads the date of a field that says how old something is; nil without a valid date.
    init?(of name: HTTPField.Name, in fields: HTTPFields, now: Timestamp) {
      guard let line = fields[values: name].first else { return nil }
      self.init(leniently: line, now: now)
    }
  }

  /// The age of a response (RFC 9111, 4.2.3).
  struct ResponseAge: Equatable {
    /// The age on arrival in seconds: `corrected_initial_age`.
    let initial: Int
    let received: Timestamp

    init(_ fields: HTTPFields, requested: Timestamp, received: Timestamp) {
      let date = HTTPDate(of: .date, in: fields, now: received)
      let apparent = date.map { max(0, HTTPDate(received).seconds - $0.seconds) } ?? 0
      let delay = max(0, requested.duration(to: received).components.seconds)
      let corrected = Int64(Self.value(fields) ?? 0) + delay
      initial = Int(clamping: max(apparent, corrected))
      self.received = received
    }

    /// The age in whole seconds, rounded down.
    func seconds(at now: Timestamp) -> Int {
      initial + Int(clamping: max(0, received.duration(to: now).components.seconds))
    }

    /// The value of `Age` (RFC 9111, 5.1). The first of several members counts; nil if this member is not a number.
    /// Parameters after the number are ignored: an age that is too high is safer than no age.
    static func value(_ fields: HTTPFields) -> Int? {
      guard let first = fields.members(of: .age).first else { return nil }
      return DeltaSeconds.parse(first.prefix { $0 != ";" })
    }
  }

  /// The permitted uses of a stale response (RFC 9111, 4.2.4; RFC 5861).
  struct StalePermission: Hashable, Sendable {
    var byRequest = false
    var whileRevalidating = false
    var onError = false
    var whenDisconnected = false
  }

  extension StalePermission {
    init(
      of stored: StoredResponse, freshness: Freshness, for request: RequestDirectives,
      policy: HTTPCachePolicy
    ) {
      let directives = stored.directives(for: policy.kind)
      if directives.forbidsStale { return }
      let staleness = max(0, -freshness.left)
      // A client that limits the age by `max-age` gets no older response, but waits for the validation.
      let isOldEnough = request.maxAge.map { freshness.age <= $0 } ?? true
      byRequest = isOldEnough && (request.maxStale.map { staleness <= $0 } ?? false)
      whileRevalidating =
        !request.noCache && isOldEnough && request.minFresh == 0
        && directives.staleWhileRevalidate > 0 && staleness <= directives.staleWhileRevalidate
      // If the request or the response states 0, stale use after an error is forbidden (RFC 5861, section 4).
      let stated = [directives.staleIfError, request.staleIfError].compactMap { $0 }
      let errorWindow = stated.contains(0) ? 0 : stated.max() ?? 0
      onError = errorWindow > 0 && staleness <= errorWindow
      whenDisconnected =
        !stated.contains(0) && (onError || staleness <= policy.whenDisconnected.wholeSeconds)
    }
  }
#endif
