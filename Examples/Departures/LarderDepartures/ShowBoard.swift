import ArgumentParser
import Departures
import ExampleProgram
import Larder

struct ShowBoard: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "board", abstract: "The departures of a station, or of all landings of a lake.")

  @Argument(help: "A station's number or name, or the id of a lake: 8503651, zuerichsee.")
  var station: NonEmpty

  @Option(help: "The day in Zurich, 2025-07-12. Default: today.") var day: CalendarDay?
  @Option(help: "Whether the store or the service answers.") var policy: RequestPolicy = .standard
  @Flag(help: "Only departures that have not left.") var upcoming = false

  @OptionGroup var session: Session

  func run() async throws {
    try await session.open(showing: [.boards, .ships]) { cache in
      try await show(try await stations(cache), cache)
    }
  }

  /// Shows the boards. Landings without one are named, and do not hide the others.
  private func show(_ stations: [String], _ cache: DeparturesCache) async throws {
    var ships: [CalendarDay: ShipDay] = [:]
    var shown: [CacheResult<Board>] = []
    var failed: [(reason: String, stations: [String])] = []
    var failure: (any Error)?
    try await cache.boards(at: stations, on: day, policy: policy) { station, result in
      do {
        var board = try result.get()
        if upcoming {
          board.value.departures =
            try await day == nil
            ? cache.upcoming(of: board.value, policy: policy)
            : board.value.upcoming(at: cache.store.now)
        }
        for day in [board.value.day] + (try board.value.departures.map { try $0.day })
        where ships[day] == nil {
          let names = try await cache.shipNames(on: day, policy: policy)
          if let error = names.error { Console.complain("names of ships: \(error)") }
          ships[day] = names.day
        }
        if let gap = try board.value.gap { Console.complain("\(station): \(gap)") }
        try show(board, ships)
        shown.append(board)
      } catch {
        if stations.count == 1 { throw error }
        if !(error is NotFound) || failure == nil { failure = error }
        let reason = error is NotFound ? "not in the timetable" : "\(error)"
        if failed.last?.reason != reason { failed.append((reason, [])) }
        failed[failed.count - 1].stations.append(station)
      }
    }
    for (reason, stations) in failed {
      Console.complain("\(stations.joined(separator: ", ")): \(reason)")
    }
    for board in shown { try board.checkAccess() }
    if let failure, shown.isEmpty || !(failure is NotFound) { throw failure }
  }

  /// The numbers of the stations.
  private func stations(_ cache: DeparturesCache) async throws -> [String] {
    let station = station.text
    if station.allSatisfy(\.isNumber) { return [station] }
    if let lake = cache.lake(station) {
      guard !lake.stations.isEmpty else {
        throw Failure(
          .noSuchKey, "the record of \(lake.name) has no stations",
          hint: "--lakes FILE gives one with stations; `search` finds their numbers")
      }
      return lake.stations
    }
    let found = try await cache.stations(named: station, policy: policy).value.filter {
      $0.id != nil
    }
    // A landing may have the name of a railway station.
    let exact = found.filter { $0.name.lowercased() == station.lowercased() }
    let best = exact.isEmpty ? found : exact
    let ships = best.filter { $0.icon == "ship" }
    let chosen = ships.isEmpty ? best : ships
    guard let first = chosen.first, let id = first.id else {
      throw Failure(.noSuchKey, "there is no station \(station)")
    }
    if chosen.count > 1 {
      let others = chosen.dropFirst().prefix(3).map { "\($0.name) (\($0.id ?? "-"))" }
      Console.complain(
        "\(first.name) (\(id)) of \(chosen.count) stations; others: \(others.joined(separator: ", "))"
      )
    }
    return [id]
  }

  private func show(_ board: CacheResult<Board>, _ ships: [CalendarDay: ShipDay]) throws {
    let names = try board.value.departures.map { try ships[$0.day]?.ship(of: $0) }
    let departures = try zip(board.value.departures, names).map { try Self.line($0, ship: $1) }
    try session.show(
      Sourced(board, BoardWithShips(board: board.value, ships: names)),
      ["\(board.value.station.name), \(board.value.day): \(board.words)"]
        + (departures.isEmpty ? [board.value.absence] : departures))
  }

  private static func line(_ departure: Departure, ship: String?) throws -> String {
    let state =
      departure.isCancelled == true ? " off" : departure.minutesLate.map(\.asDelay) ?? ""
    let clock = (try SwissTime.clock(departure.time) + state + " ").padded(to: 10)
    let line = (departure.name + " ").padded(to: 10)
    let platform = departure.platform.map { "  platform \($0)" } ?? ""
    return clock + line + departure.destination + platform + (ship.map { "  (\($0))" } ?? "")
  }
}

struct FindStations: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Stations by name.")

  @Argument(help: "The beginning of the name.") var name: NonEmpty
  @OptionGroup var session: Session

  func run() async throws {
    try await session.open(showing: [.locations]) { cache in
      let found = try await cache.stations(named: name.text)
      let stations = found.value.map { station in
        (station.id ?? "-").padded(to: 9) + station.name + (station.icon.map { "  (\($0))" } ?? "")
      }
      try session.show(
        Sourced(found), stations + ["\(found.value.count.counted("station")), \(found.words)"])
      try found.checkAccess()
    }
  }
}

extension Int {
  /// Minutes as ` +4` or ` -1`; nothing for none.
  fileprivate var asDelay: String { self == 0 ? "" : self > 0 ? " +\(self)" : " \(self)" }
}
