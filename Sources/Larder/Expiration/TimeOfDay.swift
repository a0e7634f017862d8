/// What a clock on the wall shows, on any day: `TimeOfDay(4, 30)`.
public struct TimeOfDay: Hashable, Sendable, Comparable, CustomStringConvertible {
  public var hour: Int
  public var minute: Int
  public var second: Int

  /// Hours are 0 to 23; a rule with a time that no clock shows is refused when it is declared or used.
  public init(_ hour: Int, _ minute: Int = 0, _ second: Int = 0) {
    self.hour = hour
    self.minute = minute
    self.second = second
  }

  public static let midnight = TimeOfDay(0)

  public static func < (left: Self, right: Self) -> Bool {
    (left.hour, left.minute, left.second) < (right.hour, right.minute, right.second)
  }

  var isPossible: Bool {
    (0..<24).contains(hour) && (0..<60).contains(minute) && (0..<60).contains(second)
  }

  var secondOfDay: Int64 { Int64(hour * 3600 + minute * 60 + second) }

  /// `04:00`, or `04:00:30` where seconds count.
  public var description: String {
    let shown = second == 0 ? [hour, minute] : [hour, minute, second]
    return shown.map { $0 < 10 && $0 >= 0 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  /// Nil for what ``description`` never says.
  init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part in part.utf8.count == 2 ? Int(part) : nil }
    guard (2...3).contains(parts.count), numbers.count == parts.count else { return nil }
    self.init(numbers[0], numbers[1], numbers.count == 3 ? numbers[2] : 0)
    guard isPossible else { return nil }
  }
}
