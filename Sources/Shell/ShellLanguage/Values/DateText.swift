import LarderSystem

/// The parts of a date as ISO 8601 writes it: `2026-11-21`, `2026-11-21T06:30`, `2026-11-21T06:30:00.000+01:00`.
struct DateText {
  private let year: Int
  private let month: Int
  private let day: Int
  /// The time of day in seconds; nil if the text has no time of day.
  private(set) var secondOfDay: Int?
  private var millisecond = 0
  /// How far the zone is ahead of UTC, in seconds; nil if the text has no zone.
  private(set) var offset: Int?

  /// Reads a date; nil for text of another form.
  init?(_ text: Substring) {
    let parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
    let numbers = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard numbers.map(\.count) == [4, 2, 2], let year = Self.digits(numbers[0]),
      let month = Self.digits(numbers[1]), let day = Self.digits(numbers[2])
    else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
    if parts.count == 2 { guard readTime(parts[1]) else { return nil } }
  }

  /// The time, with `secondOfDay` for a text without a time of day; nil if the calendar has no such day.
  func civil(at secondOfDay: Int) -> CivilTime? {
    var civil = CivilTime(
      year: year, month: month, day: day, secondOfDay: self.secondOfDay ?? secondOfDay)
    civil?.millisecond = millisecond
    return civil
  }

  /// Reads `06:30[:00[.000]]`, and `Z` or `+01:00`; false for text of another form.
  private mutating func readTime(_ text: Substring) -> Bool {
    var time = text
    if time.hasSuffix("Z") {
      time = time.dropLast()
      offset = 0
    } else if let sign = time.lastIndex(where: { $0 == "+" || $0 == "-" }) {
      guard time[sign...].count == 6, let size = Self.clockTime(time[time.index(after: sign)...])
      else { return false }
      offset = time[sign] == "-" ? -size : size
      time = time[..<sign]
    }
    guard time.prefix(5).utf8.count == 5, let minutes = Self.clockTime(time.prefix(5)) else {
      return false
    }
    secondOfDay = minutes
    let seconds = time.dropFirst(5)
    guard !seconds.isEmpty else { return true }
    let parts = seconds.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
    guard seconds.first == ":", parts.count <= 2, parts[0].count == 2,
      let second = Self.digits(parts[0]), second < 60
    else { return false }
    secondOfDay = minutes + second
    guard parts.count == 2 else { return true }
    // Digits after the milliseconds are ignored.
    guard Self.digits(parts[1].prefix(18)) != nil, parts[1].utf8.allSatisfy(\.isDigit),
      let fraction = Self.digits((parts[1] + "00").prefix(3))
    else { return false }
    millisecond = fraction
    return true
  }

  /// A time such as `06:30` in seconds; nil for text of another form.
  static func clockTime(_ text: Substring) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2,
      let hour = digits(parts[0]), let minute = digits(parts[1]), hour < 24, minute < 60
    else { return nil }
    return hour * 3600 + minute * 60
  }

  private static func digits(_ text: some StringProtocol) -> Int? {
    !text.isEmpty && text.utf8.allSatisfy(\.isDigit) ? Int(text) : nil
  }
}

extension UnixTime {
  /// Reads RFC 3339: `2026-11-21T06:30:00.000Z`, also with an offset other than `Z`.
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
      let time = UnixTime(
        rfc3339: "\(parts[3])-\(month < 9 ? "0" : "")\(month + 1)-\(parts[1])T\(parts[4])Z")
    else { return nil }
    self = time
  }
}
