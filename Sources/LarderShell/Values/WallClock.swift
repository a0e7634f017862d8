package import Larder

/// The present moment and the zone a person reads clocks in: all that words such as `midnight`
/// depend on.
package struct WallClock: Sendable {
  package let now: Timestamp
  package let zone: Zone

  package init(now: Timestamp, zone: Zone) {
    self.now = now
    self.zone = zone
  }

  /// What the wall shows at a moment.
  func civil(_ time: Timestamp) -> CivilTime {
    CivilTime(time, offset: offset(at: time))
  }

  /// The moments at which the wall shows a time, in order. Two when clocks go back; when they go
  /// forward over it, the one moment as far after the change as the time is after the gap's start.
  func moments(of civil: CivilTime) -> [Timestamp] {
    let day = 86_400
    let before = offset(at: civil.moment(offset: day))
    let after = offset(at: civil.moment(offset: -day))
    let exact = Set([before, after]).map(civil.moment).filter { self.civil($0) == civil }.sorted()
    return exact.isEmpty ? [civil.moment(offset: before)] : exact
  }

  /// The first moment after now at which the wall shows this time of day, on a weekday if given.
  func next(secondOfDay: Int, weekday: Int? = nil) -> Timestamp? {
    moments(secondOfDay: secondOfDay, weekday: weekday, days: -1...8).first { $0 > now }
  }

  /// The last such moment that is not after now.
  func last(secondOfDay: Int, weekday: Int? = nil) -> Timestamp? {
    moments(secondOfDay: secondOfDay, weekday: weekday, days: -8...1).last { $0 <= now }
  }

  private func moments(secondOfDay: Int, weekday: Int?, days: ClosedRange<Int>) -> [Timestamp] {
    let today = civil(now).dayNumber
    return days.flatMap { day -> [Timestamp] in
      let civil = CivilTime(dayNumber: today + day, secondOfDay: secondOfDay)
      return weekday.map { $0 == civil.weekday } ?? true ? moments(of: civil) : []
    }
  }

  private func offset(at time: Timestamp) -> Int { zone.offset(time) }
}
