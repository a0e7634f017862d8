package import LarderSystem

/// A date and a time of day in the Gregorian calendar, without a time zone.
package struct CivilTime: Sendable, Hashable {
  package let date: CalendarDate
  package let secondOfDay: Int
  package var millisecond = 0

  package var hour: Int { secondOfDay / 3600 }
  package var minute: Int { secondOfDay / 60 % 60 }
  package var second: Int { secondOfDay % 60 }

  /// The moment at which clocks that are `offset` seconds ahead of UTC show this time.
  package func moment(offset: Int) -> UnixTime {
    let seconds = date.number * CalendarDate.secondsPerDay + Int64(secondOfDay - offset)
    return UnixTime(milliseconds: seconds * 1000 + Int64(millisecond))
  }
}

extension CivilTime {
  /// The time on clocks that are `offset` seconds ahead of UTC.
  package init(_ time: UnixTime, offset: Int = 0) {
    let milliseconds = time.milliseconds + Int64(offset) * 1000
    let seconds = milliseconds.floored(by: 1000)
    let date = CalendarDate(wall: seconds)
    self.init(
      date: date, secondOfDay: Int(seconds - date.number * CalendarDate.secondsPerDay),
      millisecond: Int(milliseconds - seconds * 1000))
  }
}
