import Foundation
public import Larder

/// A day of the Gregorian calendar in the years 1 to 9999: `2026-03-29`.
///
/// Days in Zurich are 23 to 25 hours long where clocks change.
public struct CalendarDay: RawRepresentable, Hashable, Comparable, Codable, Sendable,
  CustomStringConvertible
{
  /// `2026-03-29`.
  public let rawValue: String

  public var description: String { rawValue }

  /// Nil unless the calendar has that day.
  public init?(rawValue text: String) {
    let style = Self.style(in: .gmt)
    guard text.utf8.count == 10, let start = try? Date(text, strategy: style),
      style.format(start) == text
    else { return nil }
    rawValue = text
  }

  public init?(_ text: String) { self.init(rawValue: text) }

  /// The day of a moment in Zurich.
  public init(of moment: Timestamp) throws(LarderError) {
    self.init(moment, in: try SwissTime.timeZone)
  }

  /// The last day of the calendar for a moment after it.
  private init(_ moment: Timestamp, in zone: TimeZone) {
    let text = Self.style(in: zone).format(moment.date)
    rawValue = text.utf8.count == 10 ? text : "9999-12-31"
  }

  /// When the day begins in UTC.
  public var startInUTC: Timestamp { start(in: .gmt) }

  /// The day in Zurich from its begin to its end: 23 hours when summer begins, 25 when it ends.
  public var span: Range<Timestamp> {
    get throws(LarderError) {
      let zone = try SwissTime.timeZone
      return start(in: zone)..<advanced(by: 1).start(in: zone)
    }
  }

  /// The day this many days later.
  public func advanced(by days: Int) -> CalendarDay {
    CalendarDay(startInUTC.advanced(by: .days(days)), in: .gmt)
  }

  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  private func start(in zone: TimeZone) -> Timestamp {
    do {
      return Timestamp(try Date(rawValue, strategy: Self.style(in: zone)))
    } catch {
      preconditionFailure("\(rawValue) was checked")
    }
  }

  private static func style(in zone: TimeZone) -> Date.ISO8601FormatStyle {
    Date.ISO8601FormatStyle(timeZone: zone).year().month().day()
  }
}

/// The time of the timetable: always that of Zurich.
public enum SwissTime {
  public static let zone = "Europe/Zurich"

  fileprivate static var timeZone: TimeZone {
    get throws(LarderError) {
      guard let zone = TimeZone(identifier: zone) else {
        throw LarderError(.invalidArgument, "the time zone \"\(zone)\" is not known")
      }
      return zone
    }
  }

  /// `09:05`.
  public static func clock(_ moment: Timestamp) throws -> String {
    var time = try TimeOfDay(of: moment, in: zone)
    time.second = 0
    return time.description
  }

  /// `2025-07-12T09:00:00+0200`, as the service writes moments: its offset has no colon. One with a colon, one of hours alone,
  /// `Z`, a time without seconds and one with a fraction of a second are read too. Nil for anything else.
  public static func moment(_ text: String) -> Timestamp? {
    let parts = text.split(separator: "T", omittingEmptySubsequences: false)
    guard parts.count == 2, let day = CalendarDay(String(parts[0])),
      let end = parts[1].firstIndex(where: { "+-Z".contains($0) }),
      let offset = offset(parts[1][end...])
    else { return nil }
    var clock = parts[1][..<end]
    if let point = clock.firstIndex(of: ".") {
      let digits = clock[clock.index(after: point)...]
      guard clock.utf8.count > 8, digits.utf8.count >= 1,
        digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
      else { return nil }
      clock = clock[..<point]
    }
    guard clock.utf8.count == 5 || clock.utf8.count == 8 else { return nil }
    let numbers = clock.split(separator: ":").map { $0.utf8.count == 2 ? Int($0) : nil }
    guard (2...3).contains(numbers.count), let hour = numbers[0], let minute = numbers[1],
      let second = numbers.count == 3 ? numbers[2] : 0,
      (0...24).contains(hour), (0...59).contains(minute), (0...60).contains(second)
    else { return nil }
    return day.startInUTC.advanced(by: .seconds(hour * 3600 + minute * 60 + second - offset))
  }

  private static func offset(_ text: Substring) -> Int? {
    if text == "Z" { return 0 }
    let digits = text.dropFirst().filter { $0 != ":" }
    guard let sign = text.first, sign == "+" || sign == "-",
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits)
    else { return nil }
    let minutes: Int
    switch digits.count {
    case 2: minutes = number * 60
    case 4: minutes = number / 100 * 60 + number % 100
    default: return nil
    }
    return (sign == "-" ? -60 : 60) * minutes
  }
}
