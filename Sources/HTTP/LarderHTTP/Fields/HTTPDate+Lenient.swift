#if HTTP
  import Larder

  extension HTTPDate {
    /// Reads the dates that servers really send: the three standard forms, and variants of these forms. A variant has more or
    /// fewer spaces, dashes for spaces, one-digit numbers, long names, no weekday, or a zone `UTC`, `UT`, `Z` or `+hhmm`. Use
    /// this initializer for dates that say how old something is (`Date`, `Last-Modified`), but not for an expiry. Nil if the
    /// day, month, year or time is missing, or if a part of the text has no meaning.
    init?(leniently text: String, now: Timestamp) {
      if let strict = HTTPDate(strictly: text, now: now) {
        self = strict
        return
      }
      var loose = LooseDate(now: now)
      for word in text.lowercased().split(whereSeparator: { $0 == " " || $0 == "," || $0 == "\t" })
      { guard loose.take(word) else { return nil } }
      guard let date = loose.date else { return nil }
      self = date
    }
  }

  private struct LooseDate {
    let now: Timestamp
    var day: Int?
    var month: Int?
    var year: Int?
    var time: (hour: Int, minute: Int, second: Int)?
    var offset = 0

    var date: HTTPDate? {
      guard let day, let month, let year, let time else { return nil }
      return HTTPDate(
        year: year, month: month, day: day, hour: time.hour, minute: time.minute,
        second: time.second
      ).map { HTTPDate(seconds: $0.seconds - Int64(offset)) }
    }

    mutating func take(_ word: Substring) -> Bool {
      if word.contains(":") { return takeTime(word) }
      if word.hasPrefix("+") || word.hasPrefix("-") { return takeOffset(word) }
      if word.contains("-") {
        return word.split(separator: "-", omittingEmptySubsequences: false).allSatisfy { take($0) }
      }
      if let number = DeltaSeconds.parse(word) {
        return takeNumber(number, digits: word.utf8.count)
      }
      if ["gmt", "utc", "ut", "z"].contains(word) { return true }
      if let found = HTTPDate.months.firstIndex(where: { word.hasPrefix($0) }), month == nil {
        month = found + 1
        return true
      }
      return word.utf8.count >= 3 && HTTPDate.weekdays.contains { $0.hasPrefix(word) }
    }

    private mutating func takeNumber(_ number: Int, digits: Int) -> Bool {
      if digits <= 2, day == nil {
        day = number
        return true
      }
      guard year == nil, digits == 2 || digits == 4 else { return false }
      year = digits == 4 ? number : HTTPDate.year(number, now: now)
      return true
    }

    private mutating func takeTime(_ word: Substring) -> Bool {
      let words = word.split(separator: ":", omittingEmptySubsequences: false)
      let parts = words.map { DeltaSeconds.parse($0) }
      guard time == nil, (2...3).contains(parts.count), let hour = parts[0], let minute = parts[1],
        let second = parts.count == 3 ? parts[2] : 0
      else { return false }
      time = (hour, minute, second)
      return true
    }

    private mutating func takeOffset(_ word: Substring) -> Bool {
      guard time != nil, let hours = HTTPDate.number(word.dropFirst().prefix(2), digits: 2),
        let minutes = HTTPDate.number(word.dropFirst(3), digits: 2), hours < 24, minutes < 60
      else { return false }
      offset = (hours * 3600 + minutes * 60) * (word.hasPrefix("-") ? -1 : 1)
      return true
    }
  }
#endif
