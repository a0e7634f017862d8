import Foundation
public import Larder

/// A day of the Gregorian calendar: `2026-03-29`.
///
/// Days are 23 to 25 hours long where clocks change, so the day of a moment and its start depend on a zone.
public struct CalendarDay: Hashable, Comparable, Sendable, CustomStringConvertible {
  private var year, month, day: Int

  private init?(_ components: DateComponents) {
    guard let year = components.year, let month = components.month, let day = components.day else {
      return nil
    }
    (self.year, self.month, self.day) = (year, month, day)
  }

  private static func calendar(in zone: String) throws(LarderError) -> Calendar {
    guard let zone = TimeZone(identifier: zone) else {
      throw LarderError(.invalidArgument, "the time zone \"\(zone)\" is not known")
    }
    return calendar(in: zone)
  }

  private static func calendar(in zone: TimeZone) -> Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    return calendar
  }

  private var components: DateComponents { DateComponents(year: year, month: month, day: day) }

  /// The day that calendars in the zone show at a moment.
  public init(of moment: Timestamp, in zone: String) throws(LarderError) {
    let calendar = try Self.calendar(in: zone)
    guard
      let day = CalendarDay(calendar.dateComponents([.year, .month, .day], from: moment.date))
    else { throw LarderError(.invalidArgument, "\(moment) is not in the calendar") }
    self = day
  }

  /// When the day begins in the zone: at midnight, or at the change if clocks skip midnight.
  public func start(in zone: String) throws(LarderError) -> Timestamp {
    start(in: try Self.calendar(in: zone))
  }

  /// When the day begins in UTC.
  public var startInUTC: Timestamp { start(in: Self.calendar(in: .gmt)) }

  private func start(in calendar: Calendar) -> Timestamp {
    // Noon exists on every day; midnight may be skipped.
    var noon = components
    noon.hour = 12
    guard let date = calendar.date(from: noon) else { return Timestamp(milliseconds: 0) }
    return Timestamp(calendar.startOfDay(for: date))
  }

  /// The day this many days later.
  public func advanced(by days: Int) -> CalendarDay {
    let calendar = Self.calendar(in: .gmt)
    guard let date = calendar.date(from: components),
      let later = calendar.date(byAdding: .day, value: days, to: date),
      let day = CalendarDay(calendar.dateComponents([.year, .month, .day], from: later))
    else { return self }
    return day
  }

  public static func < (left: Self, right: Self) -> Bool {
    (left.year, left.month, left.day) < (right.year, right.month, right.day)
  }

  /// `2026-03-29`.
  public var description: String {
    func padded(_ number: Int, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2)
  }

  /// Nil unless the calendar has that day, in the years 1 to 9999.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [4, 2, 2] else { return nil }
    let numbers = parts.compactMap { part in
      part.utf8.allSatisfy { (48...57).contains($0) } ? Int(part) : nil
    }
    guard numbers.count == 3, numbers[0] > 0 else { return nil }
    let components = DateComponents(year: numbers[0], month: numbers[1], day: numbers[2])
    guard components.isValidDate(in: Self.calendar(in: .gmt)) else { return nil }
    (year, month, day) = (numbers[0], numbers[1], numbers[2])
  }
}

extension CalendarDay: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let day = CalendarDay(text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\"\(text)\" is not a day of the calendar")
    }
    self = day
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
