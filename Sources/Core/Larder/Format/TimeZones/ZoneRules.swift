import LarderSystem
import Synchronization

/// The offset of a time zone from UTC at any time: a table, and a rule for the times after the table.
struct ZoneRules: Sendable, Hashable {
  /// Offsets are from 25 hours west to 26 hours east of UTC, without the limits themselves (RFC 9636, section 3.2).
  static let possibleOffsets: ClosedRange<Int64> = -89_999...93_599

  /// The times of the changes, in seconds since 1970, in order.
  let changes: [Int64]
  /// The offset before the first change, and the offset after each change.
  let offsets: [Int64]
  var later: YearlyChanges?

  static let utc = ZoneRules(changes: [], offsets: [0])

  func offset(at moment: Int64) -> Int64 {
    if let later, changes.last.map({ $0 <= moment }) ?? true { return later.offset(at: moment) }
    return offsets[index(behind: moment)]
  }

  /// The next time at which clocks may change; nil if never.
  func change(after moment: Int64) -> Int64? {
    let index = index(behind: moment)
    return index < changes.count ? changes[index] : later?.change(after: moment)
  }

  /// The number of changes up to `moment`. Searches from the end, because most moments are after nearly all changes.
  private func index(behind moment: Int64) -> Int { (changes.lastIndex { $0 <= moment } ?? -1) + 1 }

  /// The rules of each zone that was read. A process keeps the rules for ever, because only a few hundred zones exist.
  private static let known = Mutex<[String: ZoneRules]>([:])

  /// The size in bytes of the largest file that is read. The largest files of zones have 4 kB.
  private static let largestFile = 1 << 20

  /// The rules of a zone by its name in the system's time zone database, such as `Europe/Zurich`.
  static func named(_ name: String) throws(LarderError) -> ZoneRules {
    if name == "UTC" { return .utc }
    if let rules = known.withLock({ $0[name] }) { return rules }
    let rules = try load(name)
    known.withLock { $0[name] = rules }
    return rules
  }

  static func load(
    _ name: String, from directories: [String] = directories
  ) throws(LarderError) -> ZoneRules {
    guard isPossible(name) else { throw unknown(name, "the name is not one of a time zone") }
    for directory in directories {
      // Skips pipes and devices, because a read of such a file may never end.
      guard let file = FileDescriptor.reading(directory + "/" + name),
        let status = file.status, status.isRegularFile, let size = try? file.size()
      else { continue }
      guard size <= largestFile else {
        throw unknown(name, "\(directory)/\(name) is too large to be one")
      }
      do { return try ZoneRules(file: file.contents(at: 0, count: size)) } catch {
        let reason = (error as? Flaw)?.reason ?? "\(error)"
        throw unknown(name, "\(directory)/\(name) cannot be used: \(reason)")
      }
    }
    throw unknown(name, "no such file in \(directories.joined(separator: ", "))")
  }

  /// Whether each part begins with a letter and has only letters, digits, `_`, `+` and `-`: no path leads out of the database.
  private static func isPossible(_ name: String) -> Bool {
    let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return name.utf8.count <= 100
      && parts.allSatisfy { part in
        part.first?.isLetter == true
          && part.allSatisfy { $0.isLetter || $0.isDigit || "_+-".utf8.contains($0) }
      }
  }

  private static var directories: [String] {
    if let directory = environmentVariable("TZDIR"), !directory.isEmpty { return [directory] }
    return ["/usr/share/zoneinfo", "/var/db/timezone/zoneinfo", "/usr/lib/zoneinfo"]
  }

  private static func unknown(_ name: String, _ reason: String) -> LarderError {
    LarderError(
      .invalidArgument, "the time zone \"\(name)\" is not known: \(reason)",
      hint:
        "use a name such as Europe/Zurich or UTC; where the database is missing, install tzdata or set TZDIR"
    )
  }

  /// The first moment after `now`, in seconds, at which wall clocks show a time of day. Nil only if the zone skips every day.
  /// If clocks skip the time of day, the result is the moment of the change. If clocks show the time of day twice, the result
  /// is the first moment. A day that a zone skips, as Samoa did in 2011, does not count.
  func next(secondOfDay: Int64, after now: Int64) -> Int64? {
    let today = CalendarDate(wall: now + offset(at: now)).number
    // Begins with yesterday, whose late evening a change may move into today. Tries several days, because a zone may skip days.
    for number in today - 1...today + 8 {
      let start = number * CalendarDate.secondsPerDay
      let end = start + CalendarDate.secondsPerDay
      let moment = first(reaching: start + secondOfDay)
      // Clocks that skip a whole day reach its start and its end at one moment, so the day does not count.
      if moment > now, first(reaching: start) < first(reaching: end) { return moment }
    }
    return nil
  }

  /// The first time at which wall clocks have counted at least `wall` seconds since 1970-01-01 00:00.
  func first(reaching wall: Int64) -> Int64 {
    var begin = wall - Self.possibleOffsets.upperBound
    while true {
      let moment = max(begin, wall - offset(at: begin))
      guard let end = change(after: begin), end <= moment else { return moment }
      begin = end
    }
  }

  static func next(
    _ time: TimeOfDay, in zone: String, after now: Timestamp
  ) throws(LarderError) -> Timestamp {
    guard time.isPossible else {
      throw LarderError(
        .invalidArgument, "no clock shows \(time)", hint: "use 00:00 to 23:59; midnight is 00:00"
      )
    }
    let second = now.milliseconds.floored(by: 1000)
    guard let next = try named(zone).next(secondOfDay: time.secondOfDay, after: second) else {
      throw LarderError(
        .invalidArgument, "the time zone \"\(zone)\" has no days", hint: "install tzdata")
    }
    return Timestamp(milliseconds: 0).advanced(by: .seconds(next))
  }
}
