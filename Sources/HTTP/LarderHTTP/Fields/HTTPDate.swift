#if HTTP
  public import Larder
  import LarderSystem

  /// A date of a field, to the second (RFC 9110, 5.6.7).
  public struct HTTPDate: Hashable, Comparable, Sendable {
    /// Seconds since 1970, UTC.
    public let seconds: Int64

    /// The date this many seconds after 1970, UTC.
    public init(seconds: Int64) { self.seconds = seconds }

    /// The second that contains `moment`.
    public init(_ moment: Timestamp) {
      let (quotient, rest) = moment.milliseconds.quotientAndRemainder(dividingBy: 1000)
      seconds = rest < 0 ? quotient - 1 : quotient
    }

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

    /// The moment of a day and a time in the Gregorian calendar; nil if they do not exist.
    ///
    /// A leap second becomes the second after it.
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

    /// The year of this moment, from which ``year(_:now:)`` finds the century of a two-digit year.
    var year: Int { Int(date.year) }

    private var date: CalendarDate { CalendarDate(wall: seconds) }

    /// The form for fields: `Sun, 06 Nov 1994 08:49:37 GMT`.
    public var text: String {
      let components = date.components
      let rest = Int(seconds % CalendarDate.secondsPerDay)
      let ofDay = rest < 0 ? rest + Int(CalendarDate.secondsPerDay) : rest
      let weekday = Int(date.weekday)
      let day = [
        padded(Int(components.day)), Self.months[Int(components.month) - 1][...].capitalized,
        padded(Int(components.year), 4),
      ].joined(separator: " ")
      let time = [ofDay / 3600, ofDay / 60 % 60, ofDay % 60].map { padded($0) }.joined(
        separator: ":")
      return "\(Self.weekdays[weekday].prefix(3).capitalized), \(day) \(time) GMT"
    }
  }

  extension Substring {
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
  }

  extension HTTPDate {
    /// Reads the three forms of RFC 9110 (5.6.7), with letters in upper or lower case.
    ///
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`. Use it for an expiry: a
    /// zone other than GMT makes the expiry invalid (RFC 9111, 4.2). `now` decides the century of the second form.
    public init?(strictly text: String, now: Timestamp) {
      if let usual = HTTPDate(usual: text) {
        self = usual
        return
      }
      let parts = text.lowercased().split(separator: " ", omittingEmptySubsequences: false)
      let date: HTTPDate?
      switch parts.count {
      case 6 where parts[5] == "gmt":
        date = Self.fixed(parts)
      case 4 where parts[3] == "gmt":
        date = Self.rfc850(parts, now: now)
      case 5:
        date = Self.asctime(
          parts[0], month: parts[1], day: parts[2], time: parts[3], year: parts[4])
      case 6 where parts[2].isEmpty && parts[3].utf8.count == 1:
        date = Self.asctime(
          parts[0], month: parts[1], day: parts[3], time: parts[4], year: parts[5])
      default: date = nil
      }
      guard let date else { return nil }
      self = date
    }

    /// Reads the first form if its letters are in the usual case, without an allocation: nearly all dates have this form.
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
        (start..<start + 3).reduce(0) { $0 << 8 | UInt32(byte($1)) }
      }
      guard Self.usualWeekdays.contains(name(0)),
        let month = Self.usualMonths.firstIndex(of: name(8)),
        Self.usualSigns.allSatisfy({ byte($0.index) == $0.byte }), let day = number(5..<7),
        let year = number(12..<16), let hour = number(17..<19), let minute = number(20..<22),
        let second = number(23..<25)
      else { return nil }
      self.init(
        year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
    }

    private static let usualWeekdays = weekdays.map { usual($0) }
    private static let usualMonths = months.map { usual($0) }
    private static let usualSigns: [(index: Int, byte: UInt8)] = zip(
      [3, 4, 7, 11, 16, 19, 22, 25, 26, 27, 28], ",    :: GMT".utf8
    ).map { ($0, $1) }

    /// The first three letters as a number; the first letter as a capital.
    private static func usual(_ name: String) -> UInt32 {
      name.utf8.prefix(3).reduce(0) { $0 << 8 | UInt32($1) } & ~0x20_0000
    }

    private static func fixed(_ parts: [Substring]) -> HTTPDate? {
      guard parts[0].utf8.last == UInt8(ascii: ","), isShortWeekday(parts[0].dropLast()),
        let day = number(parts[1], digits: 2), let month = month(parts[2]),
        let year = number(parts[3], digits: 4)
      else { return nil }
      return HTTPDate(year: year, month: month, day: day, time: parts[4])
    }

    private static func rfc850(_ parts: [Substring], now: Timestamp) -> HTTPDate? {
      let date = parts[1].split(separator: "-", omittingEmptySubsequences: false)
      guard parts[0].utf8.last == UInt8(ascii: ","), weekdays.contains(String(parts[0].dropLast())),
        date.count == 3, let day = number(date[0], digits: 2), let month = month(date[1]),
        let short = number(date[2], digits: 2)
      else { return nil }
      return HTTPDate(
        year: Self.year(short, now: now), month: month, day: day, time: parts[2])
    }

    private static func asctime(
      _ weekday: Substring, month: Substring, day: Substring, time: Substring, year: Substring
    ) -> HTTPDate? {
      guard isShortWeekday(weekday), let month = Self.month(month),
        let day = number(day, digits: day.utf8.count == 1 ? 1 : 2),
        let year = number(year, digits: 4)
      else { return nil }
      return HTTPDate(year: year, month: month, day: day, time: time)
    }

    /// The four-digit year of a two-digit year: at most 50 years ahead, in this century or the last century.
    static func year(_ short: Int, now: Timestamp) -> Int {
      let current = HTTPDate(now).year
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

    private static func isShortWeekday(_ text: Substring) -> Bool {
      text.utf8.count == 3 && weekdays.contains { $0.hasPrefix(text) }
    }

    static func month(_ text: Substring) -> Int? {
      months.firstIndex(of: String(text)).map { $0 + 1 }
    }

    static func number(_ text: Substring, digits: Int) -> Int? {
      text.utf8.count == digits ? DeltaSeconds.parse(text) : nil
    }
  }
#endif
