public import Larder
import LarderSystem

/// A date of a field, to the second (RFC 9110, 5.6.7).
public struct HTTPDate: Hashable, Comparable, Sendable {
  /// Seconds since 1970, UTC.
  public let seconds: Int64

  /// The date so many seconds after 1970, UTC.
  public init(seconds: Int64) { self.seconds = seconds }

  /// The second that `moment` lies in.
  public init(_ moment: Timestamp) {
    let (quotient, rest) = moment.milliseconds.quotientAndRemainder(dividingBy: 1000)
    seconds = rest < 0 ? quotient - 1 : quotient
  }

  /// The same moment for a store; the nearest that a timestamp can hold.
  public var timestamp: Timestamp {
    let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    return Timestamp(milliseconds: overflow ? (seconds < 0 ? .min : .max) : milliseconds)
  }

  public static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }

  static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]
  static let weekdays = [
    "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
  ]

  /// The moment of a day and time of the Gregorian calendar; nil for one that is not in it.
  ///
  /// A leap second is the second after it.
  init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
    guard (0...9999).contains(year), (1...12).contains(month), (0...23).contains(hour),
      (0...59).contains(minute), (0...60).contains(second),
      (1...Self.days(in: month, of: year)).contains(day)
    else { return nil }
    let date = CalendarDate(year: Int64(year), month: Int64(month), day: Int64(day))
    seconds = date.number * CalendarDate.secondsPerDay + Int64(hour * 3600 + minute * 60 + second)
  }

  private static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: CalendarDate.isLeap(Int64(year)) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The year of this moment; for two-digit years, which are never more than 50 years ahead.
  var year: Int { Int(date.year) }

  private var date: CalendarDate { CalendarDate(wall: seconds) }

  /// The form for fields: `Sun, 06 Nov 1994 08:49:37 GMT`.
  public var text: String {
    let components = date.components
    let rest = Int(seconds % CalendarDate.secondsPerDay)
    let ofDay = rest < 0 ? rest + Int(CalendarDate.secondsPerDay) : rest
    let weekday = Int(date.weekday)
    func padded(_ number: Int, _ count: Int = 2) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let day = [
      padded(Int(components.day)), Self.months[Int(components.month) - 1][...].capitalized,
      padded(Int(components.year), 4),
    ].joined(separator: " ")
    let time = [ofDay / 3600, ofDay / 60 % 60, ofDay % 60].map { padded($0) }.joined(separator: ":")
    return "\(Self.weekdays[weekday].prefix(3).capitalized), \(day) \(time) GMT"
  }
}

extension Substring {
  fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}
