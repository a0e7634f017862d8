import LarderSystem

extension Word {
  /// A future time other than `never`.
  package func timeAhead(_ clock: WallClock) throws(ShellError) -> UnixTime {
    try time(.ahead, clock)
  }

  /// A past time: a duration counts back, and a time of day is its last occurrence.
  package func timeAgo(_ clock: WallClock) throws(ShellError) -> UnixTime {
    try time(.back, clock)
  }

  private enum Direction { case ahead, back }

  private static let keywords =
    ["now", "midnight", "noon", "tomorrow", "never"] + Wording.weekdays.map { $0.lowercased() }

  private func time(_ direction: Direction, _ clock: WallClock) throws(ShellError) -> UnixTime {
    let text = try numberText("time", code: .badTime)
    let word = text.lowercased()
    if Self.keywords.contains(word) {
      return try keyword(word, direction, clock)
    }
    if let secondOfDay = Self.clockTime(text) {
      return try moment(secondOfDay, nil, direction, clock)
    }
    if let dash = text.firstIndex(of: "-"), dash > text.startIndex,
      text[..<dash].allSatisfy(\.isNumber)
    {
      return try date(text, clock)
    }
    guard text.first.map({ $0.isNumber || $0 == "-" }) ?? false else {
      let near = Suggestions.near(word, among: Self.keywords)
      throw wrongTime(
        nil,
        near.map { "did you mean `\($0)`?" }
          ?? "use `15m`, `06:30`, `midnight`, `monday` or `2026-11-21`")
    }
    guard !text.contains(":") else {
      throw wrongTime(nil, "use `06:30`, or a day as well: `2026-11-21T06:30:15`")
    }
    let span = try duration().milliseconds
    guard let time = clock.now.moved(by: direction == .ahead ? span : -span) else {
      throw wrongTime("it is too far away", "`never` has no end")
    }
    return time
  }

  private func keyword(
    _ word: String, _ direction: Direction, _ clock: WallClock
  ) throws(ShellError) -> UnixTime {
    switch word {
    case "now":
      return clock.now
    case "noon":
      return try moment(43_200, nil, direction, clock)
    case "midnight":
      return try moment(0, nil, direction, clock)
    case "tomorrow" where direction == .ahead:
      return try moment(0, nil, direction, clock)
    case "tomorrow", "never":
      throw wrongTime(
        direction == .ahead ? "it has no moment" : "it is not in the past",
        direction == .ahead
          ? "--permanent selects entries that never expire" : "use `7d`, `monday` or `2026-11-21`")
    default:
      let weekday = Wording.weekdays.firstIndex { $0.lowercased() == word }
      return try moment(0, weekday, direction, clock)
    }
  }

  private func moment(
    _ secondOfDay: Int, _ weekday: Int?, _ direction: Direction, _ clock: WallClock
  ) throws(ShellError) -> UnixTime {
    let time =
      direction == .ahead
      ? clock.next(secondOfDay: secondOfDay, weekday: weekday)
      : clock.last(secondOfDay: secondOfDay, weekday: weekday)
    guard let time else { throw wrongTime("no such time is near", "use a date: `2026-11-21`") }
    return time
  }

  /// `2026-11-21`, or with a time of day and a zone: `2026-11-21T06:30:00+01:00`.
  private func date(_ text: String, _ clock: WallClock) throws(ShellError) -> UnixTime {
    let parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
    let numbers = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard numbers.map(\.count) == [4, 2, 2], let year = Self.digits(numbers[0]),
      let month = Self.digits(numbers[1]), let day = Self.digits(numbers[2])
    else { throw wrongTime(nil, "use `2026-11-21`") }
    let time = parts.count == 1 ? (0, 0, nil) : Self.timeAndZone(parts[1])
    guard let (secondOfDay, millisecond, offset) = time else {
      throw wrongTime(nil, "use `2026-11-21T06:30`, with Z or +01:00 for the zone")
    }
    guard
      var civil = CivilTime(year: year, month: month, day: day, secondOfDay: secondOfDay)
    else { throw wrongTime("there is no such day", "dates are of the years 1970 to 9999") }
    civil.millisecond = millisecond
    let moment = offset.map { civil.moment(offset: $0) } ?? clock.moments(of: civil).first
    guard let moment, (0...UnixTime.last.milliseconds).contains(moment.milliseconds) else {
      throw wrongTime("there is no such day", "dates are of the years 1970 to 9999")
    }
    return moment
  }

  /// `06:30`, in seconds.
  fileprivate static func clockTime(_ text: some StringProtocol) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2,
      let hour = digits(parts[0]), let minute = digits(parts[1]), hour < 24, minute < 60
    else { return nil }
    return hour * 3600 + minute * 60
  }

  /// `06:30[:00[.000]]` and `Z` or `+01:00`; the offset is nil where none is written.
  fileprivate static func timeAndZone(
    _ text: Substring
  ) -> (secondOfDay: Int, millisecond: Int, offset: Int?)? {
    var time = text
    var offset: Int?
    if time.hasSuffix("Z") {
      time = time.dropLast()
      offset = 0
    } else if let sign = time.lastIndex(where: { $0 == "+" || $0 == "-" }) {
      guard time[sign...].count == 6, let size = clockTime(time[time.index(after: sign)...])
      else { return nil }
      offset = time[sign] == "-" ? -size : size
      time = time[..<sign]
    }
    guard time.count >= 5, let minutes = clockTime(time.prefix(5)), time.prefix(5).count == 5
    else { return nil }
    var seconds = time.dropFirst(5)
    guard !seconds.isEmpty else { return (minutes, 0, offset) }
    guard seconds.removeFirst() == ":" else { return nil }
    let parts = seconds.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, parts[0].count == 2, let second = digits(parts[0]), second < 60
    else { return nil }
    guard parts.count == 2 else { return (minutes + second, 0, offset) }
    guard digits(parts[1].prefix(3)) != nil, parts[1].utf8.allSatisfy(\.isDigit) else { return nil }
    // What is finer than a millisecond is left out.
    guard let millisecond = digits((parts[1] + "00").prefix(3)) else { return nil }
    return (minutes + second, millisecond, offset)
  }

  fileprivate static func digits(_ text: some StringProtocol) -> Int? {
    !text.isEmpty && text.utf8.allSatisfy(\.isDigit) ? Int(text) : nil
  }

  func wrongTime(_ what: SafeText?, _ hint: SafeText) -> ShellError {
    ShellError(
      .badTime, what.map { "\(bytes) is not a time: \($0)" } ?? "\(bytes) is not a time", at: range,
      hint: hint)
  }
}

extension UnixTime {
  /// Reads RFC 3339: `2026-11-21T06:30:00.000Z`, also with another offset.
  package init?(rfc3339 text: String) {
    let parts = text.split(separator: "T", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let numbers = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard numbers.map(\.count) == [4, 2, 2], let year = Word.digits(numbers[0]),
      let month = Word.digits(numbers[1]), let day = Word.digits(numbers[2]),
      let (secondOfDay, millisecond, offset) = Word.timeAndZone(parts[1]), let offset,
      var civil = CivilTime(year: year, month: month, day: day, secondOfDay: secondOfDay)
    else { return nil }
    civil.millisecond = millisecond
    self = civil.moment(offset: offset)
  }
}

extension UnixTime {
  /// Reads the preferred form of RFC 9110, section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
  package init?(httpDate bytes: [UInt8]) {
    let parts = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT", let day = Word.digits(parts[1]),
      let month = Wording.months.firstIndex(of: String(parts[2])), let year = Word.digits(parts[3]),
      let time = Word.timeAndZone(parts[4] + "Z"),
      let civil = CivilTime(
        year: year, month: month + 1, day: day, secondOfDay: time.secondOfDay)
    else { return nil }
    self = civil.moment(offset: 0)
  }
}
