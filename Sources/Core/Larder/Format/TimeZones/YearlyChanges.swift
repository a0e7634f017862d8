import LarderSystem

/// The rule of a time zone for the years after its table, such as `CET-1CEST,M3.5.0,M10.5.0/3` (RFC 9636, section 3.3).
struct YearlyChanges: Sendable, Hashable {
  /// The standard offset, in seconds east of UTC.
  let standard: Int64
  let summer: Summer?

  /// The offset and the period of summer time. South of the equator, the period ends earlier in the year than it begins.
  struct Summer: Sendable, Hashable {
    let offset: Int64
    let start: Day
    let end: Day
  }

  /// The day and the time of a yearly change, as the clock shows them before the change.
  struct Day: Sendable, Hashable {
    enum Rule: Sendable, Hashable {
      /// Day 1 to 365. A leap day has no number.
      case ordinal(Int64)
      /// Day 0 to 365. A leap day has a number, too.
      case offset(Int64)
      /// The `week`th `weekday` of the month, counted from 1. If `week` is 5, the last `weekday` of the month.
      case weekday(month: Int64, week: Int64, weekday: Int64)
    }

    let rule: Rule
    /// Seconds after the start of the day; negative before the start. At most a week.
    let time: Int64

    /// The seconds from 1970-01-01 00:00 that the clock shows at the change in `year`.
    func wall(in year: Int64) -> Int64 {
      let first = CalendarDate(year: year, month: 1, day: 1).number
      var day: Int64
      switch rule {
      case .ordinal(let number):
        day = first + number - 1 + (CalendarDate.isLeap(year) && number >= 60 ? 1 : 0)
      case .offset(let number): day = first + number
      case .weekday(let month, let week, let weekday):
        let begin = CalendarDate(year: year, month: month, day: 1)
        let next = CalendarDate(year: year + month / 12, month: month % 12 + 1, day: 1)
        day = begin.number + (weekday - begin.weekday + 7) % 7 + (week - 1) * 7
        if day >= next.number { day -= 7 }
      }
      return day * CalendarDate.secondsPerDay + time
    }
  }

  /// The changes in the five years around `moment`, in order.
  private func changes(around moment: Int64) -> [(moment: Int64, offset: Int64)] {
    guard let summer else { return [] }
    let year = CalendarDate(wall: moment + standard).year
    // If an end is at the same time as the next start, the sort puts the end first, so summer time continues.
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

  func change(after moment: Int64) -> Int64? {
    changes(around: moment).first { $0.moment > moment }?.moment
  }

  init?(_ text: some Collection<UInt8>) {
    var text = POSIXText(rest: ArraySlice(text))
    guard text.name(), let west = text.offset() else { return nil }
    standard = -west
    if text.rest.isEmpty {
      summer = nil
    } else {
      guard text.name() else { return nil }
      var offset = standard + 3600
      if !text.skip(",") {
        guard let west = text.offset(), text.skip(",") else { return nil }
        offset = -west
      }
      guard let start = text.day(), text.skip(","), let end = text.day(), text.rest.isEmpty
      else { return nil }
      summer = Summer(offset: offset, start: start, end: end)
    }
    guard ZoneRules.possibleOffsets.contains(standard),
      ZoneRules.possibleOffsets.contains(summer?.offset ?? 0)
    else { return nil }
  }
}

private struct POSIXText {
  var rest: ArraySlice<UInt8>

  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  /// Skips a name: at least three letters, or letters, digits and signs between `<` and `>`.
  mutating func name() -> Bool {
    if skip("<") {
      guard let end = rest.firstIndex(of: UInt8(ascii: ">")), end > rest.startIndex,
        rest[..<end].allSatisfy({ $0.isLetter || $0.isDigit || $0 == 0x2B || $0 == 0x2D })
      else { return false }
      rest = rest[(end + 1)...]
      return true
    }
    let count = rest.prefix { $0.isLetter }.count
    rest = rest.dropFirst(count)
    return count >= 3
  }

  /// Reads `[+-]h[:m[:s]]`. The result is in seconds, with the sign of the text. In POSIX, offsets east of UTC are negative.
  mutating func offset() -> Int64? {
    let isNegative = skip("-")
    if !isNegative { _ = skip("+") }
    guard let hours = number(0...167) else { return nil }
    var seconds = hours * 3600
    for unit: Int64 in [60, 1] {
      guard skip(":") else { break }
      guard let part = number(0...59) else { return nil }
      seconds += part * unit
    }
    return isNegative ? -seconds : seconds
  }

  /// Reads `Jn`, `n` or `Mm.w.d`, then `/` and a time. Without such a time, the time is 2 o'clock.
  mutating func day() -> YearlyChanges.Day? {
    let rule: YearlyChanges.Day.Rule
    if skip("J") {
      guard let number = number(1...365) else { return nil }
      rule = .ordinal(number)
    } else if skip("M") {
      guard let month = number(1...12), skip("."), let week = number(1...5), skip("."),
        let weekday = number(0...6)
      else { return nil }
      rule = .weekday(month: month, week: week, weekday: weekday)
    } else {
      guard let number = number(0...365) else { return nil }
      rule = .offset(number)
    }
    guard skip("/") else { return YearlyChanges.Day(rule: rule, time: 2 * 3600) }
    return offset().map { YearlyChanges.Day(rule: rule, time: $0) }
  }

  private mutating func number(_ possible: ClosedRange<Int64>) -> Int64? {
    let digits = rest.prefix { $0.isDigit }
    guard (1...3).contains(digits.count) else { return nil }
    rest = rest.dropFirst(digits.count)
    let number = digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    return possible.contains(number) ? number : nil
  }
}
