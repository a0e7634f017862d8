import Foundation
public import Larder

/// A day of the Gregorian calendar in the years 1 to 9999: `2026-03-29`.
///
/// Days are 23 to 25 hours long where clocks change, so the day of a moment and its start depend on a zone.
public struct CalendarDay: RawRepresentable, Hashable, Comparable, Codable, Sendable,
  CustomStringConvertible
{
  /// `2026-03-29`.
  public let rawValue: String

  public var description: String { rawValue }

  /// Nil unless the calendar has that day.
  public init?(rawValue text: String) {
    let style = Self.style(in: .gmt)
    guard let start = try? Date(text, strategy: style), style.format(start) == text else {
      return nil
    }
    rawValue = text
  }

  public init?(_ text: String) { self.init(rawValue: text) }

  /// The last day of the calendar for a moment after it.
  private init(_ moment: Timestamp, _ zone: TimeZone) {
    let text = Self.style(in: zone).format(moment.date)
    rawValue = text.utf8.count == 10 ? text : "9999-12-31"
  }

  /// The day that calendars in the zone show at a moment.
  public init(of moment: Timestamp, in zone: String) throws(LarderError) {
    self.init(moment, try Self.zone(zone))
  }

  /// When the day begins in the zone.
  public func start(in zone: String) throws(LarderError) -> Timestamp {
    start(in: try Self.zone(zone))
  }

  /// When the day begins in UTC.
  public var startInUTC: Timestamp { start(in: .gmt) }

  /// The day this many days later.
  public func advanced(by days: Int) -> CalendarDay {
    CalendarDay(startInUTC.advanced(by: .days(days)), .gmt)
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

  private static func zone(_ name: String) throws(LarderError) -> TimeZone {
    guard let zone = TimeZone(identifier: name) else {
      throw LarderError(.invalidArgument, "the time zone \"\(name)\" is not known")
    }
    return zone
  }
}
