import ArgumentParser
import Departures
import ExampleProgram
import Larder

struct ShowBoard: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "board", abstract: "The departures of a station, or of all landings of a lake.")

  @Argument(help: "A station's number or name, or the id of a lake: 8503651, zuerichsee.")
  var station: String

  @Option(help: "The day in Zurich, 2025-07-12. Default: today.")
  var day: CalendarDay?

  @Option(help: "Whether the store or the service answers.")
  var policy: RequestPolicy = .standard

  @Flag(help: "Only departures that have not left.")
  var upcoming = false

  @Flag(help: "Show the next departures with countdowns at the terminal, until ^C.")
  var live = false

  @Option(help: "With --live: the departures of each station.")
  var rows = 10

  @Flag(help: "Print a line of JSON for each station.")
  var json = false

  @OptionGroup var session: Session

  func validate() throws {
    guard live else { return }
    if json || day != nil { throw ValidationError("--live shows today, and no JSON") }
    guard (1...Widget.most).contains(rows) else {
      throw ValidationError("\(rows) rows are not possible: give 1 to \(Widget.most)")
    }
    if !LiveScreen.isPossible {
      throw ValidationError("--live needs a terminal; widget --watch prints lines anywhere")
    }
  }

  func run() async throws {
    try await session.open(showing: json || live ? nil : [.boards, .ships]) { cache in
      let stations = try await stations(cache)
      if live {
        // A screen shows what is stored, and newer data in the next frame.
        var cache = cache
        cache.waitsForNewer = false
        let screen = LiveBoard(cache: cache, stations: stations, rows: rows, policy: policy)
        return try await LiveScreen.run { try await screen.frame() }
      }
      var boards: [CacheResult<Board>] = []
      for station in stations { boards.append(try await show(station, cache)) }
      for board in boards { try board.checkAccess() }
    }
  }

  /// The numbers of the stations.
  private func stations(_ cache: DeparturesCache) async throws -> [String] {
    if station.allSatisfy(\.isNumber) { return [station] }
    if let lake = cache.lake(station) {
      guard !lake.stations.isEmpty else {
        throw Failure(
          .noSuchKey, "the record of \(lake.name) has no stations",
          hint: "--lakes FILE gives one with stations; `search` finds their numbers")
      }
      return lake.stations
    }
    let found = try await cache.stations(named: station).value.filter { $0.id != nil }
    let exact = found.first { $0.name.lowercased() == station.lowercased() }
    guard let id = (exact ?? found.first)?.id else {
      throw Failure(.noSuchKey, "there is no station \(station)")
    }
    return [id]
  }

  private func show(
    _ station: String, _ cache: DeparturesCache
  ) async throws -> CacheResult<Board> {
    var board = try await cache.board(at: station, on: day, policy: policy)
    let names = try await cache.shipNames(on: board.value.day, policy: policy)
    if let error = names.error { Console.complain("names of ships: \(error)") }
    if upcoming { board.value.departures = board.value.upcoming(at: cache.store.now) }
    if json {
      print(try JSONOutput.withTimes(Sourced(board, board.value)))
      return board
    }
    Console.show("\(board.value.station.name), \(board.value.day): \(board.words)")
    for departure in board.value.departures {
      Console.show(try Self.line(departure, ship: names.day.ship(of: departure)))
    }
    if board.value.departures.isEmpty { print("no departures") }
    return board
  }

  private static func line(_ departure: Departure, ship: String?) throws -> String {
    let delay =
      departure.isCancelled == true
      ? " off" : departure.delay.map { $0 == 0 ? "" : $0 > 0 ? " +\($0)" : " \($0)" } ?? ""
    let clock = (try SwissTime.clock(departure.time) + delay).padded(to: 10)
    let line = (departure.name + " ").padded(to: 10)
    let platform = departure.platform.map { "  platform \($0)" } ?? ""
    return clock + line + departure.destination + platform + (ship.map { "  (\($0))" } ?? "")
  }
}

struct FindStations: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Stations by name.")

  @Argument(help: "The beginning of the name.")
  var name: String

  @Flag(help: "Print JSON.")
  var json = false

  @OptionGroup var session: Session

  func run() async throws {
    try await session.open(showing: json ? nil : [.locations]) { cache in
      let found = try await cache.stations(named: name)
      if json {
        print(try JSONOutput.text(Sourced(found, found.value)))
      } else {
        for station in found.value {
          let icon = station.icon.map { "  (\($0))" } ?? ""
          Console.show((station.id ?? "-").padded(to: 9) + station.name + icon)
        }
        print("\(found.value.count.counted("station")), \(found.words)")
      }
      try found.checkAccess()
    }
  }
}

struct FindWay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "way", abstract: "Ways from one station to another, from now on.")

  @Argument var from: String
  @Argument var to: String

  @Flag(help: "Print JSON.")
  var json = false

  @OptionGroup var session: Session

  func run() async throws {
    try await session.open(showing: json ? nil : [.connections]) { cache in
      let ways = try await cache.connections(from: from, to: to)
      if json {
        print(try JSONOutput.withTimes(Sourced(ways, ways.value)))
      } else {
        for way in ways.value {
          let span = "\(try SwissTime.clock(way.departure)) - \(try SwissTime.clock(way.arrival))"
          Console.show(
            span + "  " + way.legs.map { $0.line ?? "on foot" }.joined(separator: ", "))
        }
        print("\(ways.value.count.counted("way")), \(ways.words)")
      }
      try ways.checkAccess()
    }
  }
}
