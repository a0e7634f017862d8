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
  /// The runs that are left out, and why; nil for none.
  public var skipped: [String]?

  /// Whether it has the whole day.
  public var isWhole: Bool { reaches == nil }

  /// `3 left out: stationboard[7].stop is missing; ...` and `reaches until 23:20 only`; nil for nothing.
  public var gap: String? {
    get throws {
      let end = try reaches.map { "reaches until \(try SwissTime.clock($0)) only" }
      let runs = skipped.map { "\($0.count) left out: " + $0.prefix(3).joined(separator: "; ") }
      let gaps = [runs, end].compactMap(\.self)
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

  /// Whether a newer board is worth a request, although this one is fresh: services know by now whether the next departure is
  /// late.
  func isDue(at now: Timestamp, age: Duration) -> Bool {
    let soon = now.advanced(by: .minutes(15))
    return age >= .minutes(10) && upcoming(at: now).contains { $0.leaves <= soon }
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

  /// The board of a day; nil if the station is not known.
  ///
  /// - Parameter limit: the number of departures that were asked for. An answer with so many that does not reach the next day
  ///   is a part of the board.
  func board(asked id: String, on day: CalendarDay, limit: Int) throws -> Board? {
    let (runs, span) = (stationboard.elements, try day.span)
    // Runs prove that there is a station, whatever its own field has.
    guard let named = station?.station ?? (runs.isEmpty ? nil : Station(id: id, name: id)) else {
      return nil
    }
    let station = Station(id: named.id ?? id, name: named.name, place: named.place)
    let names = Dictionary(runs.flatMap(\.names)) { first, _ in first }
    let all = runs.compactMap { $0.departure(from: station, names: names) }
    var skipped =
      stationboard.skipped
      + runs.filter { $0.stop.isTimeless }.map {
        "\($0.name ?? $0.number ?? "one without a name") has no time"
      }
    var known: Set<String> = []
    let departures = all.filter { departure in
      guard span.contains(departure.time) else { return false }
      let isNew = known.insert(departure.id).inserted
      if !isNew { skipped.append("\(departure.id) is there twice") }
      return isNew
    }
    let isWhole =
      runs.count + stationboard.skipped.count < limit || all.contains { $0.time >= span.upperBound }
    return Board(
      station: station, day: day,
      departures: departures.sorted { ($0.time, $0.id) < ($1.time, $1.id) },
      reaches: isWhole ? nil : departures.map(\.time).max() ?? span.lowerBound,
      skipped: skipped.isEmpty ? nil : skipped)
  }
}
