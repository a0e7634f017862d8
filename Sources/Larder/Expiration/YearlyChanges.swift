import LarderSystem

/// A time zone's rule for all later years: one offset, or two and the days on which clocks change.
///
/// Read from the line that ends a time zone file, in the form of POSIX's variable TZ with the extensions of RFC 9636
/// section 3.3: `CET-1CEST,M3.5.0,M10.5.0/3`.
struct YearlyChanges: Sendable, Hashable {
  /// Seconds ahead of UTC.
  let standard: Int64
  let summer: Summer?

  /// The summer offset and its period. In the south the start lies after the end.
  struct Summer: Sendable, Hashable {
    let offset: Int64
    let start: Day
    let end: Day
  }

  /// A time of each year, by the clock before the change.
  struct Day: Sendable, Hashable {
    enum Rule: Sendable, Hashable {
      /// 1 to 365, without the leap day.
      case ordinal(Int64)
      /// 0 to 365, with it.
      case offset(Int64)
      /// The `week`th such weekday of the month, the last if it is 5.
      case weekday(month: Int64, week: Int64, weekday: Int64)
    }

    let rule: Rule
    /// Seconds after the start of the day, up to a week before or after it.
    let time: Int64

    /// Seconds that the clock shows, counted from 1970-01-01 00:00.
    func wall(in year: Int64) -> Int64 {
      day(in: year).number * CalendarDate.secondsPerDay + time
    }

    private func day(in year: Int64) -> CalendarDate {
      let first = CalendarDate(year: year, month: 1, day: 1).number
      switch rule {
      case .ordinal(let number):
        let leap: Int64 = CalendarDate.isLeap(year) && number >= 60 ? 1 : 0
        return CalendarDate(number: first + number - 1 + leap)
      case .offset(let number):
        return CalendarDate(number: first + number)
      case .weekday(let month, let week, let weekday):
        let begin = CalendarDate(year: year, month: month, day: 1)
        let next =
          month == 12
          ? CalendarDate(year: year + 1, month: 1, day: 1)
          : CalendarDate(year: year, month: month + 1, day: 1)
        var number = begin.number + (weekday - begin.weekday + 7) % 7 + (week - 1) * 7
        if number >= next.number { number -= 7 }
        return CalendarDate(number: number)
      }
    }
  }

  /// The changes from the year before `moment` to the one after the next, in order.
  private func changes(around moment: Int64) -> [(moment: Int64, offset: Int64)] {
    guard let summer else { return [] }
    let year = CalendarDate(wall: moment + standard).year
    // Where an end coincides with the next start summer never stops: the end is sorted first.
    return (year - 2...year + 2).flatMap { year in
      [
        (summer.end.wall(in: year) - summer.offset, standard),
        (summer.start.wall(in: year) - standard, summer.offset),
      ]
    }.sorted { ($0.0, $0.1 == summer.offset ? 1 : 0) < ($1.0, $1.1 == summer.offset ? 1 : 0) }
  }

  func offset(at moment: Int64) -> Int64 {
    changes(around: moment).last { $0.moment <= moment }?.offset ?? standard
  }

  /// When clocks change next; nil for never.
  func change(after moment: Int64) -> Int64? {
    changes(around: moment).first { $0.moment > moment }?.moment
  }
}
