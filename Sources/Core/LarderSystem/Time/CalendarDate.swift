/// A day of the proleptic Gregorian calendar, as the number of days since 1970-01-01.
package struct CalendarDate: Hashable, Sendable {
  package static let secondsPerDay: Int64 = 86_400

  package var number: Int64

  package init(number: Int64) { self.number = number }

  /// The day that wall clocks show `wall` seconds after 1970-01-01 00:00.
  package init(wall: Int64) { number = wall.floored(by: Self.secondsPerDay) }

  /// - Precondition: the month is 1 to 12. A day outside the month means a day of an earlier or later month.
  package init(year: Int64, month: Int64, day: Int64) {
    // In this calculation a year begins in March, so that the leap day is its last day; 400 years have 146,097 days.
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted.floored(by: 400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    number = era * 146_097 + dayOfEra - 719_468
  }

  package var year: Int64 { components.year }

  package var components: (year: Int64, month: Int64, day: Int64) {
    let days = number + 719_468
    let era = days.floored(by: 146_097)
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let isNextYear = shiftedMonth >= 10
    return (
      yearOfEra + era * 400 + (isNextYear ? 1 : 0), shiftedMonth + (isNextYear ? -9 : 3),
      dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    )
  }

  /// The day of the week; 0 is Sunday.
  package var weekday: Int64 { (number + 4) - (number + 4).floored(by: 7) * 7 }

  package static func isLeap(_ year: Int64) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }
}

package func padded(_ number: Int, _ width: Int = 2) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(width - digits.count, 0)) + digits
}

extension Int64 {
  /// The quotient by a positive divisor, rounded down.
  package func floored(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
