#if HTTP
  public import HTTPTypes
  public import Larder
  import LarderSystem

  /// A date in a field, with a precision of one second (RFC 9110, 5.6.7).
  public struct HTTPDate: Hashable, Comparable, Sendable {
    /// Seconds since 1970, UTC.
    public let seconds: Int64

    /// The date this many seconds after 1970, UTC.
    public init(seconds: Int64) { self.seconds = seconds }

    /// The second that contains `moment`.
    public init(_ moment: Timestamp) { seconds = moment.milliseconds.floored(by: 1000) }

    /// The same moment as a timestamp, or the nearest moment that a timestamp can hold.
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

    /// The moment of a day and a time of the Gregorian calendar; nil if there is none. A leap second becomes the next second.
    init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
      guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
        (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
      else { return nil }
      let date = CalendarDate(year: Int64(year), month: Int64(month), day: Int64(day))
      // A day that the month does not have, such as 31 April, would become a day of the next month, so it is refused.
      guard day <= 28 || date.components.day == Int64(day) else { return nil }
      seconds = date.number * CalendarDate.secondsPerDay + Int64(hour * 3600 + minute * 60 + second)
    }

    private var date: CalendarDate { CalendarDate(wall: seconds) }

    /// The form for fields: `Sun, 06 Nov 1994 08:49:37 GMT`.
    public var text: String {
      let components = date.components
      let ofDay = Int(seconds &- date.number &* CalendarDate.secondsPerDay)
      let weekday = Self.weekdays[Int(date.weekday)].prefix(3).capitalized
      let month = Self.months[Int(components.month) - 1][...].capitalized
      let day = "\(padded(Int(components.day))) \(month) \(padded(Int(components.year), 4))"
      let time = [ofDay / 3600, ofDay / 60 % 60, ofDay % 60].map { padded($0) }
      return "\(weekday), \(day) \(time.joined(separator: ":")) GMT"
    }
  }

  extension Substring {
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
  }

  extension HTTPDate {
    /// Reads the three forms of RFC 9110 (5.6.7), with letters in upper or lower case.
    ///
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`. Use this for the date of
    /// an expiry: a zone other than GMT makes an expiry invalid (RFC 9111, 4.2). `now` decides the century of the second form.
    public init?(strictly text: String, now: Timestamp) {
      if let usual = HTTPDate(usual: text) {
        self = usual
        return
      }
      var parts = text.lowercased().split(separator: " ", omittingEmptySubsequences: false)
      // The third form has a second space before a day of one digit. The empty part between the two spaces is removed.
      if parts.count == 6, parts[2].isEmpty, parts[3].utf8.count == 1 { parts.remove(at: 2) }
      let date = parts.count == 5 ? Self.asctime(parts) : Self.rfc850(parts, now: now)
      guard let date else { return nil }
      self = date
    }

    /// Reads the first form, without an allocation: nearly all dates have this form.
    private init?(usual text: String) {
      let bytes = text.utf8
      guard bytes.count == 29 else { return nil }
      func byte(_ index: Int) -> UInt8 { bytes[bytes.index(bytes.startIndex, offsetBy: index)] }
      func number(_ range: Range<Int>) -> Int? {
        var value = 0
        for index in range {
          let digit = Int(byte(index)) - 0x30
          guard (0...9).contains(digit) else { return nil }
          value = value * 10 + digit
        }
        return value
      }
      func name(_ start: Int) -> UInt32 {
        (start..<start + 3).reduce(0) { $0 << 8 | UInt32(byte($1) | 0x20) }
      }
      guard Self.usualWeekdays.contains(name(0)), name(26) == Self.usual("gmt"),
        let month = Self.usualMonths.firstIndex(of: name(8)),
        Self.usualSigns.allSatisfy({ byte($0.index) == $0.byte }), let day = number(5..<7),
        let year = number(12..<16), let hour = number(17..<19), let minute = number(20..<22),
        let second = number(23..<25)
      else { return nil }
      self.init(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
    }

    private static let usualWeekdays = weekdays.map { usual($0) }
    private static let usualMonths = months.map { usual($0) }
    private static let usualSigns: [(index: Int, byte: UInt8)] = zip(
      [3, 4, 7, 11, 16, 19, 22, 25], ",    :: ".utf8
    ).map { ($0, $1) }

    private static func usual(_ name: String) -> UInt32 {
      name.utf8.prefix(3).reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func rfc850(_ parts: [Substring], now: Timestamp) -> HTTPDate? {
      guard parts.count == 4, parts[3] == "gmt" else { return nil }
      let date = parts[1].split(separator: "-", omittingEmptySubsequences: false)
      guard parts[0].utf8.last == UInt8(ascii: ","), weekdays.contains(String(parts[0].dropLast())),
        date.count == 3, let day = number(date[0], digits: 2), let month = month(date[1]),
        let short = number(date[2], digits: 2)
      else { return nil }
      return HTTPDate(year: Self.year(short, now: now), month: month, day: day, time: parts[2])
    }

    private static func asctime(_ parts: [Substring]) -> HTTPDate? {
      guard weekdays.contains(where: { $0.prefix(3) == parts[0] }), let month = month(parts[1]),
        let day = number(parts[2], digits: parts[2].utf8.count == 1 ? 1 : 2),
        let year = number(parts[4], digits: 4)
      else { return nil }
      return HTTPDate(year: year, month: month, day: day, time: parts[3])
    }

    /// The four-digit year of a two-digit year, in this century or the previous century, and at most 50 years after `now`.
    static func year(_ short: Int, now: Timestamp) -> Int {
      let current = Int(HTTPDate(now).date.year)
      let year = current / 100 * 100 + short
      return year > current + 50 ? year - 100 : year
    }

    private init?(year: Int, month: Int, day: Int, time: Substring) {
      let parts = time.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 3, let hour = Self.number(parts[0], digits: 2),
        let minute = Self.number(parts[1], digits: 2), let second = Self.number(parts[2], digits: 2)
      else { return nil }
      self.init(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    }

    static func month(_ text: Substring) -> Int? {
      months.firstIndex(of: String(text)).map { $0 + 1 }
    }

    static func number(_ text: Substring, digits: Int) -> Int? {
      text.utf8.count == digits ? DeltaSeconds.parse(text) : nil
    }
  }

  extension HTTPResponse {
    /// The wait that the origin demands by `Retry-After` of a 429 or 503, as seconds or as a date (RFC 9110, section 10.2.3). Nil
    /// if the origin demands no wait; zero for a time that has passed.
    ///
    /// A date is compared with the `Date` of the response, if there is one, so that a wrong clock on either side has no effect.
    public func retryAfter(at now: Timestamp) -> Duration? {
      guard [429, 503].contains(status.code), let text = headerFields[values: .retryAfter].first
      else { return nil }
      if let seconds = DeltaSeconds.parse(text) { return .seconds(seconds) }
      guard let end = HTTPDate(strictly: text, now: now)?.timestamp else { return nil }
      let date = headerFields[.date].flatMap { HTTPDate(strictly: $0, now: now)?.timestamp }
      return max(.zero, (date ?? now).duration(to: end))
    }
  }
#endif
