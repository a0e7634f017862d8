import LarderSystem

extension Word {
  /// A time other than `never`: a duration counts from now, and a time of day is its next occurrence.
  package func timeAhead(_ clock: WallClock) throws(ShellError) -> UnixTime {
    try time(isAhead: true, clock)
  }

  /// A time: a duration counts back from now, and a time of day is its last occurrence.
  package func timeAgo(_ clock: WallClock) throws(ShellError) -> UnixTime {
    try time(isAhead: false, clock)
  }

  private static let keywords =
    ["now", "midnight", "noon", "tomorrow", "never"] + Wording.weekdays.map { $0.lowercased() }

  private func time(isAhead: Bool, _ clock: WallClock) throws(ShellError) -> UnixTime {
    let text = try numberText("time")
    let word = text.lowercased()
    switch word {
    case "now": return clock.now
    case "never" where isAhead:
      throw wrong("time", "it has no moment", "--permanent selects entries that never expire")
    case "never": throw notInThePast
    default: break
    }
    if word == "tomorrow" || Self.weekday(word) != nil,
      let found = try time(on: text[...], 0, isAhead, clock)
    {
      return found
    }
    if let second = Self.secondOfDay(text[...]) { return try moment(second, nil, isAhead, clock) }
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    if parts.count == 2, let second = Self.secondOfDay(parts[1]),
      let found = try time(on: parts[0], second, isAhead, clock)
    {
      return found
    }
    if let dash = text.firstIndex(of: "-"), dash > text.startIndex,
      text[..<dash].allSatisfy(\.isNumber)
    {
      return try date(text, clock)
    }
    guard text.first.map({ $0.isNumber || $0 == "-" }) ?? false else {
      let near = Suggestions.all(word, among: Self.keywords).first
      throw wrong(
        "time", nil,
        near.map { "did you mean `\($0)`?" }
          ?? "use `15m`, `06:30`, `midnight`, `monday` or `2026-11-21`")
    }
    guard !text.contains(":") else {
      throw wrong("time", nil, "use `06:30`, or a day as well: `2026-11-21T06:30:15`")
    }
    let span = try duration().milliseconds
    guard let time = clock.now.moved(by: isAhead ? span : -span) else {
      throw wrong("time", "it is too far away", "`never` has no end")
    }
    return time
  }

  /// `tomorrow 09:00`, `monday noon`, `2026-11-21 06:30`; nil if the first word is not a day.
  private func time(
    on day: Substring, _ secondOfDay: Int, _ isAhead: Bool, _ clock: WallClock
  ) throws(ShellError) -> UnixTime? {
    let name = day.lowercased()
    if let weekday = Self.weekday(name) { return try moment(secondOfDay, weekday, isAhead, clock) }
    let civil: CivilTime?
    switch name {
    case "today", "tomorrow":
      var date = clock.civil(clock.now).date
      if name == "tomorrow" { date.number += 1 }
      civil = CivilTime(date: date, secondOfDay: secondOfDay)
    default:
      guard let date = DateText(day), date.secondOfDay == nil else { return nil }
      civil = date.civil(at: secondOfDay)
    }
    guard let civil, let time = clock.moments(of: civil).first else { throw noSuchDay }
    guard isAhead || time <= clock.now else { throw notInThePast }
    return time
  }

  private static func weekday(_ word: String) -> Int? {
    Wording.weekdays.firstIndex { $0.lowercased() == word }
  }

  /// The second of the day of `06:30`, `noon` or `midnight`; nil for other text.
  private static func secondOfDay(_ text: Substring) -> Int? {
    switch text.lowercased() {
    case "midnight": 0
    case "noon": 43_200
    default: DateText.clockTime(text)
    }
  }

  private func moment(
    _ secondOfDay: Int, _ weekday: Int?, _ isAhead: Bool, _ clock: WallClock
  ) throws(ShellError) -> UnixTime {
    let today = clock.civil(clock.now).date.number
    let dates = (today - 8...today + 8).map { CalendarDate(number: $0) }
    let moments = dates.filter { weekday == nil || Int($0.weekday) == weekday }.flatMap {
      clock.moments(of: CivilTime(date: $0, secondOfDay: secondOfDay))
    }
    let time = isAhead ? moments.first { $0 > clock.now } : moments.last { $0 <= clock.now }
    guard let time else { throw wrong("time", "no such time is near", "use a date: `2026-11-21`") }
    return time
  }

  /// A date such as `2026-11-21`, or with a time of day and a zone: `2026-11-21T06:30:00+01:00`.
  private func date(_ text: String, _ clock: WallClock) throws(ShellError) -> UnixTime {
    guard let date = DateText(text[...]) else {
      throw wrong("time", nil, "use `2026-11-21` or `2026-11-21T06:30Z`")
    }
    guard let civil = date.civil(at: 0) else { throw noSuchDay }
    let moment = date.offset.map { civil.moment(offset: $0) } ?? clock.moments(of: civil).first
    guard let moment, (0...UnixTime.last.milliseconds).contains(moment.milliseconds) else {
      throw noSuchDay
    }
    return moment
  }

  private var noSuchDay: ShellError {
    wrong("time", "there is no such day", "dates are of the years 1970 to 9999")
  }

  private var notInThePast: ShellError {
    wrong("time", "it is not in the past", "use `7d`, `monday` or `2026-11-21`")
  }

  /// `never`, or a time in a form of `help times`. A duration counts from now.
  package func deadline(_ clock: WallClock) throws(ShellError) -> Deadline {
    if bytes.elementsEqual("never".utf8, by: { $0 | 0x20 == $1 }) { return .never }
    return .at(try timeAhead(clock))
  }

  /// `never`, a time, or `+DURATION`, which is added to the present expiry of an entry.
  package func expiryChange(_ clock: WallClock) throws(ShellError) -> ExpiryChange {
    switch bytes.first {
    case UInt8(ascii: "+"): return .later(try dropping(1).duration())
    case UInt8(ascii: "-"):
      throw wrong("time", "it is negative", "use `--at-most` with a time to expire entries earlier")
    default: return .to(try deadline(clock))
    }
  }
}
