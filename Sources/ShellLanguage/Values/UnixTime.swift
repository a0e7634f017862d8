import LarderSystem

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
  package var milliseconds: Int64 { truncatedMilliseconds }
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

/// A date and time of day as a calendar on the wall shows it, in the Gregorian calendar.
package struct CivilTime: Sendable, Hashable {
  package var year: Int
  package var month: Int
  package var day: Int
  package var secondOfDay: Int
  package var millisecond = 0

  package var hour: Int { secondOfDay / 3600 }
  package var minute: Int { secondOfDay / 60 % 60 }
  package var second: Int { secondOfDay % 60 }

  /// Days since 1970-01-01.
  package var dayNumber: Int {
    Int(CalendarDate(year: Int64(year), month: Int64(month), day: Int64(day)).number)
  }

  /// The moment a wall shows this that is `offset` seconds ahead of UTC.
  package func moment(offset: Int) -> UnixTime {
    let seconds = dayNumber * 86_400 + secondOfDay - offset
    return UnixTime(milliseconds: Int64(seconds * 1000 + millisecond))
  }

  /// 0 is Sunday.
  package var weekday: Int { Int(CalendarDate(number: Int64(dayNumber)).weekday) }

  package init(dayNumber: Int, secondOfDay: Int, millisecond: Int = 0) {
    let date = CalendarDate(number: Int64(dayNumber)).components
    (year, month, day) = (Int(date.year), Int(date.month), Int(date.day))
    self.secondOfDay = secondOfDay
    self.millisecond = millisecond
  }

  /// Nil if the calendar has no such day.
  package init?(year: Int, month: Int, day: Int, secondOfDay: Int) {
    guard (1970...9999).contains(year), (1...12).contains(month), day >= 1,
      (0..<86_400).contains(secondOfDay)
    else { return nil }
    self.year = year
    self.month = month
    self.day = day
    self.secondOfDay = secondOfDay
    guard CivilTime(dayNumber: dayNumber, secondOfDay: 0).day == day else { return nil }
  }

  /// The time that UTC shows.
  package init(_ time: UnixTime, offset: Int = 0) {
    let milliseconds = time.milliseconds + Int64(offset) * 1000
    let seconds = milliseconds.floored(by: 1000)
    let date = CalendarDate(wall: seconds)
    self.init(
      dayNumber: Int(date.number),
      secondOfDay: Int(seconds - date.number * CalendarDate.secondsPerDay),
      millisecond: Int(milliseconds - seconds * 1000))
  }
}

extension UnixTime {
  /// RFC 3339 in UTC with milliseconds, so that text sorts as time does. For a year that takes more than four digits,
  /// ISO 8601's expanded form with its sign.
  package var rfc3339: String {
    let time = CivilTime(self)
    var text: [UInt8] = []
    text.reserveCapacity(24)
    func append(_ number: Int, _ width: Int, _ end: Character) {
      for power in [1000, 100, 10, 1].suffix(width) {
        text.append(UInt8(ascii: "0") + UInt8(number / power % 10))
      }
      text.append(contentsOf: end.utf8)
    }
    if (0...9999).contains(time.year) {
      append(time.year, 4, "-")
    } else {
      let digits = String(time.year.magnitude)
      let zeroes = String(repeating: "0", count: max(6 - digits.count, 0))
      text += Array(((time.year < 0 ? "-" : "+") + zeroes + digits + "-").utf8)
    }
    append(time.month, 2, "-")
    append(time.day, 2, "T")
    append(time.hour, 2, ":")
    append(time.minute, 2, ":")
    append(time.second, 2, ".")
    append(time.millisecond, 3, "Z")
    return String(decoding: text, as: UTF8.self)
  }
}
