extension CalendarDay {
  /// The day that calendars in the zone show at a moment: `try CalendarDay(of: store.now, in: "Europe/Zurich")`.
  ///
  /// Throws for a zone that is not known here.
  public init(of moment: Timestamp, in zone: String) throws(LarderError) {
    self.init(wall: try moment.wall(in: zone))
  }

  /// When the day begins in the zone: at midnight, or where clocks leap over that, at the leap.
  public func start(in zone: String) throws(LarderError) -> Timestamp {
    let second = try ZoneRules.named(zone).first(reaching: number * Self.seconds)
    return Timestamp(milliseconds: 0).advanced(by: .seconds(second))
  }

  /// When the day begins in UTC.
  public var startInUTC: Timestamp {
    Timestamp(milliseconds: 0).advanced(by: .seconds(number * Self.seconds))
  }

  /// The day so many days later.
  public func advanced(by days: Int) -> CalendarDay {
    CalendarDay(number: number + Int64(days))
  }
}

extension TimeOfDay {
  /// What clocks in the zone show at a moment.
  public init(of moment: Timestamp, in zone: String) throws(LarderError) {
    let wall = try moment.wall(in: zone)
    let second = Int(wall - wall.floored(by: CalendarDay.seconds) * CalendarDay.seconds)
    self.init(second / 3600, second / 60 % 60, second % 60)
  }
}

extension Timestamp {
  /// How many seconds the clocks of a zone have counted since they showed 1970-01-01 00:00.
  fileprivate func wall(in zone: String) throws(LarderError) -> Int64 {
    let second = milliseconds.floored(by: 1000)
    return second + (try ZoneRules.named(zone)).offset(at: second)
  }
}

extension CalendarDay: Comparable, CustomStringConvertible {
  public static func < (left: Self, right: Self) -> Bool { left.number < right.number }

  /// `2026-03-29`.
  public var description: String {
    let year = year
    var month: Int64 = 12
    while CalendarDay(year: year, month: month, day: 1) > self { month -= 1 }
    let day = number - CalendarDay(year: year, month: month, day: 1).number + 1
    let digits = String(year.magnitude)
    return (year < 0 ? "-" : "") + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      + (month < 10 ? "-0" : "-") + "\(month)" + (day < 10 ? "-0" : "-") + "\(day)"
  }

  /// Nil for what ``description`` never says, `2026-02-30` for one, and for years before 0 and after 9999.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [4, 2, 2] else { return nil }
    let numbers = parts.compactMap { part in
      part.utf8.allSatisfy { (48...57).contains($0) } ? Int64(part) : nil
    }
    guard numbers.count == 3 else { return nil }
    self.init(year: numbers[0], month: numbers[1], day: numbers[2])
    guard description == text else { return nil }
  }
}

/// The text.
extension CalendarDay: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let day = CalendarDay(text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\"\(text)\" is no day of the calendar")
    }
    self = day
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
