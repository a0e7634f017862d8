import LarderSystem

extension ZoneRules {
  /// The first time after `now`, in seconds, at which wall clocks of the zone reach a time of day; nil only for a zone that
  /// has no days.
  ///
  /// On a day on which clocks skip that time it is the moment of the change; on a day on which they show it twice, the
  /// first. A day that a zone skips, as Samoa did in 2011, has no time of day.
  func next(secondOfDay: Int64, after now: Int64) -> Int64? {
    let today = CalendarDate(wall: now + offset(at: now)).number
    // Yesterday counts: a change may move its late evening into today. A day may be skipped.
    for number in today - 1...today + 8 {
      let day = CalendarDate(number: number)
      guard exists(day) else { continue }
      let moment = first(reaching: number * CalendarDate.secondsPerDay + secondOfDay)
      if moment > now { return moment }
    }
    return nil
  }

  /// The first moment at which wall clocks have counted `wall` seconds since 1970-01-01 00:00, or more.
  func first(reaching wall: Int64) -> Int64 {
    var begin = wall - Self.possibleOffsets.upperBound
    while true {
      let moment = max(begin, wall - offset(at: begin))
      guard let end = change(after: begin), end <= moment else { return moment }
      begin = end
    }
  }

  /// Whether clocks ever show a moment of that day.
  private func exists(_ day: CalendarDate) -> Bool {
    let first = day.number * CalendarDate.secondsPerDay
    let next = first + CalendarDate.secondsPerDay
    var begin = first - Self.possibleOffsets.upperBound
    while true {
      let offset = offset(at: begin)
      let end = change(after: begin)
      if begin + offset >= next, begin > next - Self.possibleOffsets.lowerBound { return false }
      if begin + offset < next, end.map({ $0 + offset > first }) ?? true { return true }
      guard let end else { return false }
      begin = end
    }
  }
}

extension ZoneRules {
  /// The next moment at which clocks in a zone show a time of day.
  static func next(
    _ time: TimeOfDay, in zone: String, after now: Timestamp
  ) throws(LarderError) -> Timestamp {
    guard time.isPossible else {
      throw LarderError(
        .invalidArgument, "no clock shows \(time)", hint: "use 00:00 to 23:59; midnight is 00:00"
      )
    }
    let rules = try named(zone)
    guard
      let next = rules.next(
        secondOfDay: time.secondOfDay, after: now.milliseconds.floored(by: 1000))
    else {
      throw LarderError(
        .invalidArgument, "the time zone \"\(zone)\" has no days", hint: "install tzdata")
    }
    return Timestamp(milliseconds: 0).advanced(by: .seconds(next))
  }
}
