import LarderSystem

/// The parts of a date as ISO 8601 writes it: `2026-11-21`, `2026-11-21T06:30`, `2026-11-21T06:30:00.000+01:00`.
struct DateText {
  /// Nil if the calendar has no such day, and for years outside 1970 to 9999.
  private let date: CalendarDate?
  /// The time of day in seconds; nil if the text has no time of day.
  private(set) var secondOfDay: Int?
  private var millisecond = 0
  /// How far the zone is ahead of UTC, in seconds; nil if the text has no zone.
  private(set) var offset: Int?

  init?(_ text: Substring) {
    let parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
    guard let numbers = Self.numbers(parts[0], "-", [4...4, 2...2, 2...2]) else { return nil }
    let (year, month, day) = (Int64(numbers[0]), Int64(numbers[1]), Int64(numbers[2]))
    let isMonth = (1970...9999).contains(year) && (1...12).contains(month)
    let date = isMonth ? CalendarDate(year: year, month: month, day: day) : nil
    self.date = date?.components.day == day ? date : nil
    guard parts.count == 2 else { return }

    var time = parts[1]
    if time.hasSuffix("Z") {
      time = time.dropLast()
      offset = 0
    } else if let sign = time.lastIndex(where: { $0 == "+" || $0 == "-" }) {
      guard time[sign...].count == 6, let size = Self.clockTime(time[time.index(after: sign)...])
      else { return nil }
      offset = time[sign] == "-" ? -size : size
      time = time[..<sign]
    }
    let seconds = time.split(separator: ".", omittingEmptySubsequences: false)
    guard seconds[0].dropFirst(2).first == ":", let clock = Self.clockTime(seconds[0]) else {
      return nil
    }
    secondOfDay = clock
    guard seconds.count > 1 else { return }
    // Digits after the milliseconds are ignored.
    guard seconds.count == 2, seconds[0].count == 8, !seconds[1].isEmpty,
      seconds[1].utf8.allSatisfy(\.isDigit), let fraction = Int("\(seconds[1])00".prefix(3))
    else { return nil }
    millisecond = fraction
  }

  /// The date with its time of day, or with `secondOfDay` if the text has none. Nil if the calendar has no such day.
  func civil(at secondOfDay: Int) -> CivilTime? {
    date.map {
      CivilTime(date: $0, secondOfDay: self.secondOfDay ?? secondOfDay, millisecond: millisecond)
    }
  }

  /// A time such as `06:30` or `06:30:15` in seconds; nil for text of another form.
  static func clockTime(_ text: Substring) -> Int? {
    guard
      let clock = numbers(text, ":", [1...2, 2...2]) ?? numbers(text, ":", [1...2, 2...2, 2...2]),
      zip(clock, [24, 60, 60]).allSatisfy({ $0 < $1 })
    else { return nil }
    return zip(clock, [3600, 60, 1]).reduce(0) { $0 + $1.0 * $1.1 }
  }

  /// The numbers between separators. Nil if the number of the parts, or of the digits in a part, differs from `widths`.
  private static func numbers(
    _ text: Substring, _ separator: Character, _ widths: [ClosedRange<Int>]
  ) -> [Int]? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    let areNumbers = zip(parts, widths).allSatisfy { part, width in
      width.contains(part.count) && part.utf8.allSatisfy(\.isDigit)
    }
    return areNumbers && parts.count == widths.count ? parts.compactMap { Int($0) } : nil
  }
}

extension UnixTime {
  /// Reads RFC 3339: `2026-11-21T06:30:00.000Z`, or with another offset than `Z`.
  package init?(rfc3339 text: String) {
    guard let date = DateText(text[...]), let offset = date.offset, let civil = date.civil(at: 0)
    else { return nil }
    self = civil.moment(offset: offset)
  }

  /// Reads the preferred form of RFC 9110, section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
  package init?(httpDate bytes: [UInt8]) {
    let parts = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT", parts[1].count == 2,
      let month = Wording.months.firstIndex(of: String(parts[2])),
      let time = UnixTime(rfc3339: "\(parts[3])-\(padded(month + 1))-\(parts[1])T\(parts[4])Z")
    else { return nil }
    self = time
  }
}
