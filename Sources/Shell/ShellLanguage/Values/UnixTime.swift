import LarderSystem

/// A moment as milliseconds since 1970-01-01 00:00 UTC, without leap seconds.
package struct UnixTime: Sendable, Hashable, Comparable {
  package let milliseconds: Int64

  /// Limits the time to `farthest`, because an entry may have any time and differences of times must not overflow.
  package init(milliseconds: Int64) {
    self.milliseconds = min(max(milliseconds, -Self.farthest), Self.farthest)
  }

  private static let farthest: Int64 = 1 << 62 - 1

  package static func < (left: UnixTime, right: UnixTime) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// The last moment of the year 9999. RFC 3339 can write no later time.
  package static let last = UnixTime(milliseconds: 253_402_300_799_999)

  /// The time moved by `milliseconds`; nil outside the years 1970 to 9999.
  package func moved(by milliseconds: Int64) -> UnixTime? {
    let (sum, overflow) = self.milliseconds.addingReportingOverflow(milliseconds)
    return overflow || sum < 0 || sum > Self.last.milliseconds ? nil : UnixTime(milliseconds: sum)
  }

  /// The time from `other` to this time, in milliseconds.
  package func since(_ other: UnixTime) -> Int64 { milliseconds - other.milliseconds }

  /// RFC 3339 in UTC with milliseconds, so that texts sort like times. For years outside 0 to 9999, expanded ISO 8601.
  package var rfc3339: String {
    let time = CivilTime(self)
    let date = time.date.components
    var text: [UInt8] = []
    text.reserveCapacity(24)
    func append(_ number: Int, _ width: Int, _ end: Character) {
      for power in [1000, 100, 10, 1].suffix(width) {
        text.append(UInt8(ascii: "0") + UInt8(number / power % 10))
      }
      text.append(contentsOf: end.utf8)
    }
    if (0...9999).contains(date.year) {
      append(Int(date.year), 4, "-")
    } else {
      text += Array("\(date.year < 0 ? "-" : "+")\(padded(Int(date.year.magnitude), 6))-".utf8)
    }
    append(Int(date.month), 2, "-")
    append(Int(date.day), 2, "T")
    append(time.hour, 2, ":")
    append(time.minute, 2, ":")
    append(time.second, 2, ".")
    append(time.millisecond, 3, "Z")
    return String(decoding: text, as: UTF8.self)
  }
}

extension Duration {
  /// The duration in whole milliseconds, rounded towards zero.
  package var milliseconds: Int64 { truncatedMilliseconds }
}

/// The time at which an entry expires. `never` is later than any time.
package enum Deadline: Sendable, Hashable, Comparable {
  case at(UnixTime)
  case never

  package init(_ time: UnixTime?) { self = time.map { .at($0) } ?? .never }

  package var time: UnixTime? { if case .at(let time) = self { time } else { nil } }
}

package enum ExpiryChange: Sendable, Hashable {
  case to(Deadline)
  /// Later than the present expiry of the entry, by this duration.
  case later(Duration)
}
