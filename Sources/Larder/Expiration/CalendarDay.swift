/// A day of the Gregorian calendar, as keys name it: `2026-03-29`.
///
/// Days are 23 to 25 hours long where clocks are changed, so which day it is and when it begins depends on a zone.
public struct CalendarDay: Hashable, Sendable {
  static let seconds: Int64 = 86_400

  /// How many days after 1970-01-01.
  var number: Int64

  init(number: Int64) { self.number = number }

  /// The day that wall clocks show which have counted so many seconds since 1970-01-01 00:00.
  init(wall: Int64) { number = wall.floored(by: Self.seconds) }

  init(year: Int64, month: Int64, day: Int64) {
    // Years begin in March here, so that the leap day is the last one.
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted.floored(by: 400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    number = era * 146_097 + dayOfEra - 719_468
  }

  /// The year of the calendar it is in.
  var year: Int64 {
    let days = number + 719_468
    let era = days.floored(by: 146_097)
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    // March is the first month, so January and February are the last two.
    return yearOfEra + era * 400 + (dayOfYear >= 306 ? 1 : 0)
  }

  /// 0 is Sunday.
  var weekday: Int64 { (number + 4) - (number + 4).floored(by: 7) * 7 }

  static func isLeap(_ year: Int64) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }
}

extension Int64 {
  /// The quotient, rounded down.
  func floored(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
