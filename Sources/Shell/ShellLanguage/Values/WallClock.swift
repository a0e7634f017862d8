import LarderSystem

/// The present time and the time zone. Words such as `midnight` depend on both.
package struct WallClock: Sendable {
  package let now: UnixTime
  package let zone: Zone

  package init(now: UnixTime, zone: Zone) {
    self.now = now
    self.zone = zone
  }

  package func civil(_ time: UnixTime) -> CivilTime { CivilTime(time, offset: zone.offset(time)) }

  /// The moments at which local clocks show a time, in order: two if clocks go back and show the time twice. If clocks skip the
  /// time, the only moment is the change of the clocks, by the rule for entries that expire daily.
  package func moments(of civil: CivilTime) -> [UnixTime] {
    let day = 86_400
    let before = zone.offset(civil.moment(offset: day))
    let after = zone.offset(civil.moment(offset: -day))
    let exact = Set([before, after]).map(civil.moment).filter { self.civil($0) == civil }.sorted()
    guard exact.isEmpty else { return exact }
    var early = civil.moment(offset: after).milliseconds
    var late = civil.moment(offset: before).milliseconds
    while late - early > 1 {
      let middle = early + (late - early) / 2
      let isBefore = zone.offset(UnixTime(milliseconds: middle)) == before
      (early, late) = isBefore ? (middle, late) : (early, middle)
    }
    return [UnixTime(milliseconds: late)]
  }

  /// A distance such as `in 4 h 12 min`, `3 min ago` or `now`. A brief distance has one unit: `in 4 h`.
  package func distance(to time: UnixTime, isBrief: Bool = false) -> String {
    let span = time.since(now)
    var length = Wording.span(abs(span))
    if isBrief { length = length.split(separator: " ").prefix(2).joined(separator: " ") }
    return span == 0 ? "now" : span > 0 ? "in \(length)" : "\(length) ago"
  }

  /// The expiry of an entry: `in 4 h 12 min`, `expired 3 min ago`, `never`. A brief expiry: `in 4 h`, `expired`.
  package func expiry(_ time: UnixTime?, isBrief: Bool = false) -> String {
    guard let time else { return "never" }
    if time >= now { return distance(to: time, isBrief: isBrief) }
    return isBrief ? "expired" : "expired \(Wording.span(now.since(time))) ago"
  }

  /// The expiry, with its clock time if the expiry is at least a minute from now: `in 15 min (21:55)`, `in 2 h (today 23:40)`.
  package func expiryAndClock(_ time: UnixTime?) -> String {
    guard let time, time.since(now) >= 60_000 else { return expiry(time) }
    return "\(distance(to: time)) (\(clock(time)))"
  }

  /// A date such as `Sat 21 Nov 00:00`. The date has the year if the year is not the present year.
  package func date(_ time: UnixTime) -> String {
    let shown = civil(time)
    let year = shown.date.year == civil(now).date.year ? "" : " \(shown.date.year)"
    return "\(day(shown))\(year) \(timeOfDay(shown))"
  }

  /// A date such as `Sat 21 Nov 2026, 00:00 CET`, for a page that a person may read at any time and place.
  package func fullDate(_ time: UnixTime) -> String {
    let shown = civil(time)
    return "\(day(shown)) \(shown.date.year), \(timeOfDay(shown)) \(zone.name(at: time))"
  }

  /// The clock time: `21:55` within an hour of now, else with the day (`today 23:40`, `tomorrow 06:30`, `Mon 02:10`) or the date.
  package func clock(_ time: UnixTime) -> String {
    let shown = civil(time)
    switch shown.date.number - civil(now).date.number {
    case 0 where abs(time.since(now)) < 3_600_000: return timeOfDay(shown)
    case 0: return "today \(timeOfDay(shown))"
    case 1: return "tomorrow \(timeOfDay(shown))"
    case 2...6: return "\(weekday(shown)) \(timeOfDay(shown))"
    default: return date(time)
    }
  }

  /// The time of day, such as `21:40:03`.
  package func timeOfDay(_ time: UnixTime) -> String {
    let shown = civil(time)
    return "\(timeOfDay(shown)):\(padded(shown.second))"
  }

  private func day(_ time: CivilTime) -> String {
    let date = time.date.components
    return "\(weekday(time)) \(date.day) \(Wording.months[Int(date.month) - 1])"
  }

  private func weekday(_ time: CivilTime) -> String {
    String(Wording.weekdays[Int(time.date.weekday)].prefix(3))
  }

  private func timeOfDay(_ time: CivilTime) -> String {
    "\(padded(time.hour)):\(padded(time.minute))"
  }
}

/// A time zone as closures, so that a shell need not load the library ICU, which would delay its start.
package struct Zone: Sendable {
  package let offset: @Sendable (UnixTime) -> Int
  private let abbreviation: (@Sendable (UnixTime) -> String?)?

  package init(
    abbreviation: (@Sendable (UnixTime) -> String?)? = nil,
    _ offset: @escaping @Sendable (UnixTime) -> Int
  ) {
    self.offset = offset
    self.abbreviation = abbreviation
  }

  package static let utc = Zone(abbreviation: { _ in "UTC" }, { _ in 0 })

  /// The name of the zone, such as `CET`. For a zone without a name, its offset, such as `+01:00`.
  func name(at time: UnixTime) -> String {
    if let name = abbreviation?(time), name.contains(where: \.isLetter) { return name }
    let minutes = abs(offset(time)) / 60
    return "\(offset(time) < 0 ? "-" : "+")\(padded(minutes / 60)):\(padded(minutes % 60))"
  }
}
