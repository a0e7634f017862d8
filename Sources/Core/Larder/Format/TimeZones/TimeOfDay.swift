import LarderSystem

/// A time of day on a wall clock: `TimeOfDay(4, 30)`.
public struct TimeOfDay: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The hour, 0 to 23.
  public var hour: Int
  /// The minute, 0 to 59.
  public var minute: Int
  /// The second, 0 to 59.
  public var second: Int

  /// Makes a time of day. An invalid time is refused when a rule with this time is declared or used.
  public init(_ hour: Int, _ minute: Int = 0, _ second: Int = 0) {
    self.hour = hour
    self.minute = minute
    self.second = second
  }

  /// Whether `left` is earlier in the day than `right`.
  public static func < (left: Self, right: Self) -> Bool {
    (left.hour, left.minute, left.second) < (right.hour, right.minute, right.second)
  }

  var isPossible: Bool {
    (0..<24).contains(hour) && (0..<60).contains(minute) && (0..<60).contains(second)
  }

  var secondOfDay: Int64 { Int64(hour * 3600 + minute * 60 + second) }

  /// `04:00`, or `04:00:30` if the second is not 0.
  public var description: String {
    let shown = second == 0 ? [hour, minute] : [hour, minute, second]
    return shown.map { $0 < 10 && $0 >= 0 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  /// Reads text in the form of ``description``. Nil for text of another form, or for an invalid time.
  init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { $0.utf8.count == 2 && $0.first!.isNumber ? Int($0) : nil }
    guard (2...3).contains(parts.count), numbers.count == parts.count else { return nil }
    self.init(numbers[0], numbers[1], numbers.count == 3 ? numbers[2] : 0)
    guard isPossible else { return nil }
  }

  /// The time of day that wall clocks in the zone show at `time`, in whole seconds.
  ///
  /// Throws ``LarderError/Code/invalidArgument`` if the system's time zone database does not have the zone.
  public init(of time: Timestamp, in zone: String) throws(LarderError) {
    let second = time.milliseconds.floored(by: 1000)
    let wall = second + (try ZoneRules.named(zone)).offset(at: second)
    let ofDay = Int(
      wall - wall.floored(by: CalendarDate.secondsPerDay) * CalendarDate.secondsPerDay)
    self.init(ofDay / 3600, ofDay / 60 % 60, ofDay % 60)
  }
}
