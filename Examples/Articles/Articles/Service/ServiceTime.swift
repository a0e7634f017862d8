import Foundation

/// A time of the service: RFC 3339, with any number of digits of a second.
struct ServiceTime {
  /// The time without its fraction of a second; nil for text in another form.
  private let second: Date?
  /// The digits of the fraction.
  private let fraction: String

  private init(_ text: String) {
    let (minutes, rest) = (text.prefix(16), text.dropFirst(16))
    // Some services leave seconds out.
    let time = rest.isEmpty || rest.first == ":" ? text : "\(minutes):00\(rest)"
    let zone = time.dropFirst(19).drop { $0 == "." || $0.isNumber }
    second = try? Date(String(time.prefix(19) + zone), strategy: .iso8601)
    fraction = String(time[..<zone.startIndex].dropFirst(20))
  }

  /// Whether a text is such a time.
  static func isKnown(_ text: String) -> Bool { ServiceTime(text).second != nil }

  /// Whether a time is later than another one; texts in another form are compared as such.
  static func isLater(_ text: String, than other: String) -> Bool {
    let (one, two) = (ServiceTime(text), ServiceTime(other))
    guard let first = one.second, let second = two.second else { return text > other }
    // Zeros at its end say nothing.
    let fractions = [one, two].map { $0.fraction.reversed().drop { $0 == "0" }.reversed() }
    return first == second
      ? fractions[1].lexicographicallyPrecedes(fractions[0]) : first > second
  }

  /// Whether two texts are forms of one time. Zeros at the end of a fraction may be left out, and a database may keep
  /// microseconds of a time that was sent with nanoseconds.
  static func isSame(_ text: String, _ other: String) -> Bool {
    let (one, two) = (ServiceTime(text), ServiceTime(other))
    guard let first = one.second, let second = two.second else { return text == other }
    let isRounded = one.fraction.count != two.fraction.count
    let distance = first.timeIntervalSince(second) * Self.all + one.nanoseconds - two.nanoseconds
    return abs(distance) < (isRounded ? Self.microsecond : 1) - 0.5
  }

  /// Nanoseconds of a second, and of a microsecond.
  private static let (all, microsecond) = (1_000_000_000.0, 1_000.0)
  private var nanoseconds: Double { (Double("0.\(fraction)") ?? 0) * Self.all }
}
