public import Larder

/// A date of a field, to the second (RFC 9110, 5.6.7).
public struct HTTPDate: Hashable, Comparable, Sendable {
  /// Since 1970, UTC.
  public let seconds: Int64

  public init(seconds: Int64) { self.seconds = seconds }

  /// The second that `moment` lies in.
  public init(_ moment: Timestamp) {
    let (quotient, rest) = moment.milliseconds.quotientAndRemainder(dividingBy: 1000)
    seconds = rest < 0 ? quotient - 1 : quotient
  }

  public var timestamp: Timestamp { Timestamp(milliseconds: seconds * 1000) }

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
    // Years that begin in March end with the leap day; 400 of them are 146,097 days.
    let shifted = month > 2 ? year : year - 1
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let ofEra = shifted - era * 400
    let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let days = era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    seconds = Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
  }

  private static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The year of this moment; for two-digit years, which are never more than 50 years ahead.
  var year: Int { civil.year }

  private var civil: (year: Int, month: Int, day: Int) {
    let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400 + 719_468
    let era = (days >= 0 ? days : days - 146_096) / 146_097
    let ofEra = days - era * 146_097
    let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * year + year / 4 - year / 100)
    let month = (5 * ofYear + 2) / 153
    return (
      Int(year + era * 400 + (month >= 10 ? 1 : 0)), Int(month < 10 ? month + 3 : month - 9),
      Int(ofYear - (153 * month + 2) / 5 + 1)
    )
  }

  /// As fields are to be written: `Sun, 06 Nov 1994 08:49:37 GMT`.
  public var text: String {
    let (year, month, day) = civil
    let ofDay = Int(seconds - (seconds >= 0 ? seconds : seconds - 86_399) / 86_400 * 86_400)
    let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
    let weekday = Int(((days + 4) % 7 + 7) % 7)
    func padded(_ number: Int, _ count: Int = 2) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let name = Self.weekdays[weekday].prefix(3).capitalized + ", "
    let date = padded(day) + " " + Self.months[month - 1][...].capitalized + " " + padded(year, 4)
    return name + date + " " + padded(ofDay / 3600) + ":" + padded(ofDay / 60 % 60) + ":"
      + padded(ofDay % 60) + " GMT"
  }
}

extension Substring {
  fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}
