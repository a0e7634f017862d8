public import Larder

/// The time of the timetable: always that of Zurich.
public enum SwissTime {
  public static let zone = "Europe/Zurich"

  /// The day of a time.
  public static func day(of moment: Timestamp) throws -> CalendarDay {
    try CalendarDay(of: moment, in: zone)
  }

  /// All of a day: 23 hours when summer begins, 25 when it ends.
  public static func span(of day: CalendarDay) throws -> Range<Timestamp> {
    try day.start(in: zone)..<day.advanced(by: 1).start(in: zone)
  }

  /// `09:05`.
  public static func clock(_ moment: Timestamp) throws -> String {
    var time = try TimeOfDay(of: moment, in: zone)
    time.second = 0
    return time.description
  }

  /// `2025-07-12T09:00:00+0200`, as the service writes moments: its offset has no colon. One with a colon, and `Z`, are
  /// read too. Nil for anything else.
  public static func moment(_ text: String) -> Timestamp? {
    let parts = text.split(separator: "T", omittingEmptySubsequences: false)
    guard parts.count == 2, let day = CalendarDay(String(parts[0])) else { return nil }
    let clock = parts[1].prefix(8).split(separator: ":").map { Int($0) }
    guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
      (0...24).contains(hour), (0...59).contains(minute), (0...60).contains(second),
      let offset = offset(parts[1].dropFirst(8))
    else { return nil }
    return day.startInUTC.advanced(by: .seconds(hour * 3600 + minute * 60 + second - offset))
  }

  private static func offset(_ text: Substring) -> Int? {
    if text == "Z" { return 0 }
    let digits = text.dropFirst().filter { $0 != ":" }
    guard let sign = text.first, sign == "+" || sign == "-", digits.count == 4,
      let number = Int(digits), number >= 0
    else { return nil }
    return (sign == "-" ? -1 : 1) * (number / 100 * 3600 + number % 100 * 60)
  }
}
