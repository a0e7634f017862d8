/// Numbers, sizes and durations as a person reads them.
package enum Wording {
  package static let weekdays = [
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
  ]
  package static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The number with commas, such as `1,203`.
  package static func count(_ number: Int) -> String {
    var digits = Array(String(number.magnitude))
    for index in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: index) }
    return (number < 0 ? "-" : "") + String(digits)
  }

  /// The number with its noun, such as `1,203 entries` or `1 entry`.
  package static func count(_ number: Int, _ one: String, _ many: String) -> String {
    "\(count(number)) \(number == 1 ? one : many)"
  }

  package static func records(_ number: Int) -> String { count(number, "record", "records") }

  package static func entries(_ number: Int) -> String { count(number, "entry", "entries") }

  /// A share as a percentage, such as `28 %`. A share below 1 is never `100 %`, because a limit would look full, or a rate without
  /// a miss. The counters of a damaged store can give a share beyond all numbers.
  package static func percent(_ share: Double) -> String {
    let percent = Int(exactly: (share * 100).rounded()) ?? .max
    return "\(share < 1 ? min(percent, 99) : percent) %"
  }

  /// A number of bytes, such as `812 B`, `2.4 kB`, `31 kB` or `16.3 MB`. Units are powers of 1000.
  package static func size(_ bytes: Int) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
    var power = 0
    var unit = 1
    // A size that would round to 1000 of its unit becomes 1 of the next unit, so `1000 kB` is never written.
    while power < units.count - 1, rounded(bytes, to: unit) >= 1000 {
      power += 1
      unit *= 1000
    }
    let tenths = power == 0 ? 0 : rounded(bytes, to: unit / 10)
    let showsTenths = power > 0 && tenths < (power == 1 ? 100 : 1000) && tenths % 10 != 0
    let number = showsTenths ? "\(tenths / 10).\(tenths % 10)" : "\(rounded(bytes, to: unit))"
    return "\(number) \(units[power])"
  }

  /// A duration such as `48 s`, `1 min 30 s`, `14 min`, `4 h 12 min` or `2 d 4 h`, rounded to the last unit.
  package static func span(_ milliseconds: Int64) -> String {
    guard milliseconds >= 1000 else { return "\(milliseconds) ms" }
    let seconds = rounded(milliseconds, to: 1000)
    if seconds < 60 { return "\(seconds) s" }
    if seconds < 600 { return pair(seconds, 60, "min", "s") }
    let minutes = rounded(milliseconds, to: 60_000)
    if minutes < 60 { return "\(minutes) min" }
    if minutes < 1440 { return pair(minutes, 60, "h", "min") }
    let hours = rounded(milliseconds, to: 3_600_000)
    if hours < 240 { return pair(hours, 24, "d", "h") }
    return "\(count(Int(rounded(milliseconds, to: 86_400_000)))) d"
  }

  private static func rounded<Number: FixedWidthInteger>(
    _ amount: Number, to unit: Number
  ) -> Number {
    let (quotient, remainder) = amount.quotientAndRemainder(dividingBy: unit)
    return quotient + (remainder * 2 >= unit ? 1 : 0)
  }

  private static func pair(
    _ amount: Int64, _ size: Int64, _ unit: String, _ smallUnit: String
  ) -> String {
    let (large, rest) = amount.quotientAndRemainder(dividingBy: size)
    return rest == 0 ? "\(large) \(unit)" : "\(large) \(unit) \(rest) \(smallUnit)"
  }
}
