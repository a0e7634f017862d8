import HTTPTypes
import Larder

/// The freshness lifetime of a response and its source (RFC 9111, 4.2.1 and 4.2.2).
struct FreshnessLifetime: Equatable {
  enum Source: Equatable {
    case maxAge, expires, heuristic
    /// A rule of the application.
    case rule
    /// No source: the response is never fresh.
    case none
  }

  let seconds: Int
  let source: Source

  var isExplicit: Bool { source != .heuristic && source != .none }

  init(_ response: HTTPResponse, received: Timestamp, policy: HTTPCachePolicy) {
    let fields = response.headerFields
    let directives = ResponseDirectives(fields, for: policy.kind)
    switch directives.maxAge {
    case .seconds(let value):
      self.init(value, .maxAge)
    case .invalid:
      // 4.2.1: an invalid or contradictory value makes the response stale.
      self.init(0, .maxAge)
    case .absent:
      if fields.contains(.expires) {
        self.init(Self.untilExpires(fields, received: received), .expires)
      } else if let seconds = Self.heuristic(
        response, directives: directives, received: received, policy: policy)
      {
        self.init(seconds, .heuristic)
      } else {
        self.init(0, .none)
      }
    }
  }

  init(assigned seconds: Int) { self.init(seconds, .rule) }

  private init(_ seconds: Int, _ source: Source) {
    self.seconds = seconds
    self.source = source
  }

  /// 5.3: an invalid date, or several different dates, lie in the past.
  private static func untilExpires(_ fields: HTTPFields, received: Timestamp) -> Int {
    let lines = Set(fields[values: .expires])
    guard lines.count == 1, let line = lines.first,
      let expires = HTTPDate(strictly: line, now: received)
    else { return 0 }
    let date = HTTPDate(of: .date, in: fields, now: received) ?? HTTPDate(received)
    return Int(clamping: min(Int64(DeltaSeconds.most), max(0, expires.seconds - date.seconds)))
  }

  /// A tenth of the time since the last modification.
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

  /// The statuses of RFC 9110, section 15.1.
  static func isHeuristicallyCacheable(_ status: HTTPResponse.Status) -> Bool {
    [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status.code)
  }
}

extension HTTPDate {
  /// The date of a field that says how old something is.
  init?(of name: HTTPField.Name, in fields: HTTPFields, now: Timestamp) {
    guard let line = fields[values: name].first else { return nil }
    self.init(leniently: line, now: now)
  }
}
