/// The present time and the time zone, which words such as `midnight` depend on.
package struct WallClock: Sendable {
  package let now: UnixTime
  package let zone: Zone

  package init(now: UnixTime, zone: Zone) {
    self.now = now
    self.zone = zone
  }

  /// The local time at a moment.
  package func civil(_ time: UnixTime) -> CivilTime {
    CivilTime(time, offset: offset(at: time))
  }

  /// The moments at which the wall shows a time, in order. Two when clocks go back; when they go
  /// forward over it, the one moment as far after the change as the time is after the gap's start.
  package func moments(of civil: CivilTime) -> [UnixTime] {
    let day = 86_400
    let before = offset(at: civil.moment(offset: day))
    let after = offset(at: civil.moment(offset: -day))
    let exact = Set([before, after]).map(civil.moment).filter { self.civil($0) == civil }.sorted()
    return exact.isEmpty ? [civil.moment(offset: before)] : exact
  }

  /// The first moment after now at which the wall shows this time of day, on a weekday if given.
  package func next(secondOfDay: Int, weekday: Int? = nil) -> UnixTime? {
    moments(secondOfDay: secondOfDay, weekday: weekday, days: -1...8).first { $0 > now }
  }

  /// The last such moment that is not after now.
  package func last(secondOfDay: Int, weekday: Int? = nil) -> UnixTime? {
    moments(secondOfDay: secondOfDay, weekday: weekday, days: -8...1).last { $0 <= now }
  }

  private func moments(secondOfDay: Int, weekday: Int?, days: ClosedRange<Int>) -> [UnixTime] {
    let today = civil(now).dayNumber
    return days.flatMap { day -> [UnixTime] in
      let civil = CivilTime(dayNumber: today + day, secondOfDay: secondOfDay)
      return weekday.map { $0 == civil.weekday } ?? true ? moments(of: civil) : []
    }
  }

  private func offset(at time: UnixTime) -> Int { zone.offset(time) }
}

/// How far the wall clocks of a place are ahead of UTC.
///
/// A closure, because time zones live in the C library or in all of ICU, and a shell that starts in
/// milliseconds must not load the latter.
package struct Zone: Sendable {
  /// In seconds.
  package let offset: @Sendable (UnixTime) -> Int
  private let abbreviation: (@Sendable (UnixTime) -> String?)?

  /// - Parameter abbreviation: The name of the zone at a time, such as `CET`.
  package init(
    abbreviation: (@Sendable (UnixTime) -> String?)? = nil,
    _ offset: @escaping @Sendable (UnixTime) -> Int
  ) {
    self.offset = offset
    self.abbreviation = abbreviation
  }

  package static let utc = Zone(abbreviation: { _ in "UTC" }, { _ in 0 })

  /// `CET`, or `+01:00` where the zone has no name.
  func name(at time: UnixTime) -> String {
    if let name = abbreviation?(time), name.contains(where: \.isLetter) { return name }
    let minutes = abs(offset(time)) / 60
    return "\(offset(time) < 0 ? "-" : "+")\(padded(minutes / 60)):\(padded(minutes % 60))"
  }
}
