/// A moment as milliseconds since 1970-01-01 00:00 UTC, without leap seconds.
package struct UnixTime: Sendable, Hashable, Comparable {
  package let milliseconds: Int64

  /// A program may give an entry any time. Those that are too far for the difference of two times become the farthest.
  package init(milliseconds: Int64) {
    self.milliseconds = min(max(milliseconds, -Self.farthest), Self.farthest)
  }

  /// 146 million years.
  private static let farthest: Int64 = 1 << 62 - 1

  package static func < (left: UnixTime, right: UnixTime) -> Bool {
    left.milliseconds < right.milliseconds
  }
}

extension Duration {
  /// Whole milliseconds, rounded towards zero.
  package var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }
}

extension UnixTime {
  /// The last moment of the year 9999: what RFC 3339 can write.
  package static let last = UnixTime(milliseconds: 253_402_300_799_999)

  /// Nil beyond the years 1970 to 9999.
  package func moved(by milliseconds: Int64) -> UnixTime? {
    let (sum, overflow) = self.milliseconds.addingReportingOverflow(milliseconds)
    return overflow || sum < 0 || sum > Self.last.milliseconds ? nil : UnixTime(milliseconds: sum)
  }

  /// From `other` to this one, in milliseconds.
  package func since(_ other: UnixTime) -> Int64 { milliseconds - other.milliseconds }
}

/// The change that `expire` makes to an expiry.
package enum ExpiryChange: Sendable, Hashable {
  case to(Deadline)
  /// So much later than the expiry the entry has.
  case later(Duration)
}

/// The time at which an entry expires; `never` is the latest.
package enum Deadline: Sendable, Hashable, Comparable {
  case at(UnixTime)
  case never

  package init(_ time: UnixTime?) { self = time.map { .at($0) } ?? .never }

  /// Nil for never.
  package var time: UnixTime? {
    if case .at(let time) = self { time } else { nil }
  }
}

extension SafeText {
  /// `12 entries never expire`
  package static func neverExpire(_ count: Int) -> SafeText {
    "\(Wording.entries(count)) never \(count == 1 ? "expires" : "expire")"
  }
}
