public import Larder
import Service

/// The departures of a station on a day.
public struct Board: Codable, Hashable, Sendable {
  public var station: Station
  /// In Zurich.
  public var day: CalendarDay
  /// Sorted by time; it may be empty.
  public var departures: [Departure]
  /// The time of its last departure, if it does not reach the end of the day.
  public var reaches: Timestamp?
  /// The time before which departures that have left are missing; nil if none are.
  public var begins: Timestamp?
  /// The runs that are left out, and why; nil for none.
  public var skipped: [String]?

  /// Whether it has the whole day.
  public var isWhole: Bool { reaches == nil && begins == nil }

  /// `3 left out: stationboard[7].stop is missing; ...`, `some before 17:30 are missing` and `reaches until 23:20 only`; nil for
  /// nothing.
  public var gap: String? {
    get throws {
      let start = try begins.map { "some before \(try SwissTime.clock($0)) are missing" }
      let end = try reaches.map { "reaches until \(try SwissTime.clock($0)) only" }
      let runs = skipped.map { "\($0.count) left out: " + $0.prefix(3).joined(separator: "; ") }
      let gaps = [runs, start, end].compactMap(\.self)
      return gaps.isEmpty ? nil : gaps.joined(separator: "; ")
    }
  }

  /// The words for a list without any: `no departures`, or as far as that is known.
  public var absence: String {
    get throws {
      guard let reaches else { return "no departures" }
      return "no departures are known after \(try SwissTime.clock(reaches))"
    }
  }

  /// Those that have not left, without the cancelled ones.
  public func upcoming(at now: Timestamp) -> [Departure] {
    departures.filter { $0.leaves > now && $0.isCancelled != true }
  }

  /// Whether delays or expected times are known.
  public var isLive: Bool { departures.contains(where: \.isLive) }

  /// The lifetime; nil for that of the rule. Delays of departures that have left do not count.
  func expiration(at now: Timestamp) -> Expiration? {
    upcoming(at: now).contains(where: \.isLive) ? .after(.minutes(1)) : nil
  }

  /// Whether a newer board is worth a request, although this one is fresh: it ends soon, or services know by now whether the next
  /// departure is late.
  ///
  /// - Parameter isShown: whether someone looks at it now.
  func isDue(at now: Timestamp, age: Duration, isShown: Bool) throws -> Bool {
    let soon = now.advanced(by: .minutes(15))
    if let reaches, reaches <= soon, age >= .minutes(1), try day == CalendarDay(of: now) {
      return true
    }
    return isShown && age >= .minutes(10) && upcoming(at: now).contains { $0.leaves <= soon }
  }
}

/// A board of the service.
struct BoardBody: Decodable {
  /// Null, with an empty list, for an unknown station.
  @Lenient var station: StationBody?
  var stationboard: LenientList<JourneyBody>

  /// Nil for a board of the station and the day that were asked for, which may be empty. One of which no run has a time is none.
  func fault(asked id: String, on day: Range<Timestamp>) -> String? {
    if let other = station?.id, other.withoutZeros != id.withoutZeros {
      return "it is of the station \(other)"
    }
    let runs = stationboard.elements
    if runs.isEmpty { return nil }
    let times = runs.compactMap(\.stop.departureTime)
    if times.isEmpty { return "no run has a time" }
    return times.allSatisfy { $0 < day.lowerBound } ? "its runs are of an earlier day" : nil
  }
}

/// Builds the board of a day from one or more answers.
struct BoardBuilder {
  let day: CalendarDay
  let span: Range<Timestamp>
  /// Half an hour ago, if that is on the day. If the first answer ends before, the rest of the day comes before what has left.
  private let recent: Timestamp?
  /// The number of departures in a request. An answer may have more, if several leave at the same time.
  var limit: Int
  private(set) var station: Station?
  private var departures: [Departure] = []
  private var known: Set<String> = []
  private var skipped: [String] = []
  /// What the last answer left out, without its places in the list.
  private var last: [String] = []
  /// The start of what was left out before `recent`.
  private var hole: Timestamp?
  private var isAtEnd = false
  /// The start of the last request after the first.
  private var asked: Timestamp?

  /// - Parameter now: the time of the requests.
  init(_ day: CalendarDay, limit: Int, now: Timestamp? = nil) throws {
    let span = try day.span
    (self.day, self.limit, self.span) = (day, limit, span)
    recent = now.map { Timestamp(milliseconds: ($0.milliseconds / 60_000 - 30) * 60_000) }
      .flatMap { span.contains($0) ? $0 : nil }
  }

  /// Adds an answer; returns the start of the next request, or nil if the day is complete or the service has no more.
  mutating func take(_ body: BoardBody, asked id: String) throws -> Timestamp? {
    let runs = body.stationboard.elements
    // Runs prove that there is a station, whatever its own field has.
    let named = body.station?.station ?? (runs.isEmpty ? nil : Station(id: id, name: id))
    guard let station = named else { return nil }
    self.station = Station(id: station.id ?? id, name: station.name, place: station.place)
    let names = Dictionary(runs.flatMap(\.names)) { first, _ in first }
    let all = runs.compactMap { $0.departure(from: station, names: names) }
    let before = known
    let new = all.filter { departure in
      guard span.contains(departure.time), !before.contains(departure.id) else { return false }
      let isNew = known.insert(departure.id).inserted
      if !isNew { skipped.append("\(departure.id) is there twice") }
      return isNew
    }
    departures += new
    leaveOut(
      body.stationboard.skipped
        + runs.filter { $0.stop.isTimeless }.map {
          "\($0.name ?? $0.number ?? "one without a name") has no time"
        })
    // A short answer proves nothing: the service may give fewer than were asked for. So the next one shows whether there are more.
    let isShort = runs.count + body.stationboard.skipped.count < limit
    let end = isAtEnd ? recent ?? span.upperBound : span.upperBound
    let times = Set(all.map(\.time))
    // As many as the service gives leave in the minute that was asked for, so that others may come after them.
    let isFull = new.isEmpty && all.count > 1 && times.count == 1
    // The service does not obey the time that was asked for. A few runs may be late.
    let isElsewhere = asked.map { asked in times.count { $0 < asked } * 2 > times.count } ?? false
    if times.contains(where: { $0 >= end }) || (isShort && new.isEmpty && !isFull && !isElsewhere) {
      if isAtEnd { hole = nil }
      isAtEnd = true
      asked = hole
      return hole
    }
    let minute = isFull ? times.first?.advanced(by: .minutes(1)) : nil
    guard let next = minute ?? new.map(\.time).max() else { return nil }
    asked = next
    if isAtEnd {
      hole = next
    } else if let recent, before.isEmpty, next < recent {
      hole = next
      asked = recent
    }
    return asked
  }

  /// An answer begins with the end of the last one, whose runs do not count again.
  private mutating func leaveOut(_ reasons: [String]) {
    var before = last
    last = reasons.map { $0.replacing(/\[\d+\]/, with: "") }
    for (reason, bare) in zip(reasons, last) {
      if let place = before.firstIndex(of: bare) {
        before.remove(at: place)
      } else {
        skipped.append(reason)
      }
    }
  }

  var board: Board? {
    station.map {
      Board(
        station: $0, day: day,
        departures: departures.sorted { ($0.time, $0.id) < ($1.time, $1.id) },
        reaches: isAtEnd ? nil : departures.map(\.time).max() ?? span.lowerBound,
        begins: hole == nil ? nil : recent,
        skipped: skipped.isEmpty ? nil : skipped)
    }
  }
}
