public import Larder

/// All that leaves a station on a day.
public struct Board: Codable, Hashable, Sendable {
  public var station: Station
  /// In Zurich.
  public var day: CalendarDay
  /// In the order in which they leave; none is an answer, too.
  public var departures: [Departure]
  /// Whether it has the whole day; if not, it ends with its last departure.
  public var isWhole: Bool

  public func upcoming(at now: Timestamp) -> [Departure] {
    departures.filter { $0.leaves > now }
  }

  /// Whether anything is known about how they really run.
  public var isLive: Bool { departures.contains(where: \.isLive) }

  /// How long it stays fresh; nil: as the rule says. News of what has left are none.
  func expiration(at now: Timestamp) -> Expiration? {
    if upcoming(at: now).contains(where: \.isLive) { return .after(.minutes(1)) }
    if !isWhole, let last = departures.last { return .at(last.time) }
    return nil
  }
}

/// A board as the service says it.
struct BoardBody: Decodable {
  /// Null if there is no such station, with an empty list: that is no empty board.
  var station: StationBody?
  var stationboard: [JourneyBody]
}

/// A board of a day, put together from as many answers as it takes.
struct BoardBuilder {
  let day: CalendarDay
  let span: Range<Timestamp>
  /// How many departures are asked for at a time. An answer may have more, when several leave at the same time.
  let limit: Int
  private(set) var station: Station?
  private var departures: [Departure] = []
  private var known: Set<String> = []
  private(set) var isWhole = false

  init(_ day: CalendarDay, limit: Int) throws {
    self.day = day
    self.limit = limit
    span = try SwissTime.span(of: day)
  }

  /// Takes an answer; nil if the day is complete or nothing is to be had any more, else from when on to ask for the next.
  mutating func take(_ body: BoardBody, asked id: String) throws -> Timestamp? {
    guard let station = body.station?.station else { return nil }
    self.station = Station(id: station.id ?? id, name: station.name, place: station.place)
    let names = Dictionary(body.stationboard.flatMap(\.names)) { first, _ in first }
    let all = body.stationboard.compactMap { $0.departure(from: station, names: names) }
    let new = all.filter { span.contains($0.time) && known.insert($0.id).inserted }
    departures += new
    isWhole = body.stationboard.count < limit || all.contains { $0.time >= span.upperBound }
    if isWhole || new.isEmpty { return nil }
    return new.map(\.time).max()
  }

  var board: Board? {
    station.map {
      Board(
        station: $0, day: day,
        departures: departures.sorted { ($0.time, $0.id) < ($1.time, $1.id) },
        isWhole: isWhole)
    }
  }
}
