import LarderSystem

/// A date and a time of day in the Gregorian calendar, without a time zone.
package struct CivilTime: Sendable, Hashable {
  package var year: Int
  package var month: Int
  package var day: Int
  package var secondOfDay: Int
  package var millisecond = 0

  package var hour: Int { secondOfDay / 3600 }
  package var minute: Int { secondOfDay / 60 % 60 }
  package var second: Int { secondOfDay % 60 }

  package var dayNumber: Int {
    Int(CalendarDate(year: Int64(year), month: Int64(month), day: Int64(day)).number)
  }

  /// The moment at which clocks that are `offset` seconds ahead of UTC show this time.
  package func moment(offset: Int) -> UnixTime {
    let seconds = dayNumber * 86_400 + secondOfDay - offset
    return UnixTime(milliseconds: Int64(seconds * 1000 + millisecond))
  }

  /// The day of the week; 0 is Sunday.
  package var weekday: Int { Int(CalendarDate(number: Int64(dayNumber)).weekday) }

  package init(dayNumber: Int, secondOfDay: Int, millisecond: Int = 0) {
    let date = CalendarDate(number: Int64(dayNumber)).components
    (year, month, day) = (Int(date.year), Int(date.month), Int(date.day))
    self.secondOfDay = secondOfDay
    self.millisecond = millisecond
  }

  /// Makes a time. Nil if the calendar has no such day, and for years outside 1970 to 9999.
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

  /// The time on clocks that are `offset` seconds ahead of UTC.
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
