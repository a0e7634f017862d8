import ArgumentParser
import Departures
import ExampleProgram
import Larder

struct ShowBoard: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "board", abstract: "The departures of a station.")

  @Argument(help: "The number of a station; `search` finds it.") var station: NonEmpty
  @Option(help: "The day in Zurich, 2025-07-12. Default: today.") var day: CalendarDay?
  @Option(help: "Whether the store or the service answers.") var policy: RequestPolicy = .standard
  @Flag(help: "Only departures that have not left.") var upcoming = false
  @OptionGroup var session: Session

  func run() async throws {
    try await session.open(showing: .boards, .ships) { cache in
      var cache = cache
      cache.policy = policy
      var result = try await cache.board(at: station.text, on: day)
      var board = result.value
      if upcoming { board.departures = board.upcoming(at: cache.store.now) }
      do {
        let ships = try await cache.ships(on: board.day)
        board.departures = board.departures.map { $0.named(by: ships.value) }
        if let error = ships.error { throw error }
      } catch { Console.complain("names of ships: \(error)") }
      if let end = board.reaches {
        Console.complain("the answer reaches until \(try SwissTime.clock(end)) only")
      }
      result.value = board
      let rows = try board.departures.map(row)
      try session.show(
        result, Sourced(result),
        ["\(board.station), \(board.day): \(result.words)"]
          + (rows.isEmpty ? ["no departures"] : rows))
    }
  }

  private func row(_ departure: Departure) throws -> String {
    let delay = departure.delay ?? 0
    let late = delay == 0 ? "" : delay > 0 ? " +\(delay)" : " \(delay)"
    let time = try SwissTime.clock(departure.time) + (departure.isCancelled ? " off" : late)
    let platform = departure.platform.map { "  platform \($0)" } ?? ""
    let ship = departure.ship.map { "  (\($0))" } ?? ""
    let name = departure.name.padded(to: 9)
    return "\(time.padded(to: 9)) \(name) \(departure.destination)\(platform)\(ship)"
  }
}

struct FindStations: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Stations by name.")

  @Argument(help: "The beginning of the name.") var name: NonEmpty
  @OptionGroup var session: Session

  func run() async throws {
    try await session.open(showing: .locations) { cache in
      let found = try await cache.stations(named: name.text)
      let rows = found.value.map { station in
        (station.id ?? "-").padded(to: 9) + (station.name ?? "")
          + (station.icon.map { "  (\($0))" } ?? "")
      }
      try session.show(
        found, Sourced(found), rows + ["\(rows.count.counted("station")), \(found.words)"])
    }
  }
}

struct ShowLake: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lake", abstract: "Weather, water and sun of a lake today.",
    discussion: "With --json each is a document in a line of its own.")

  @Argument(help: "The lake's id, zuerichsee.") var lake: NonEmpty
  @OptionGroup var session: Session

  func run() async throws {
    try await session.open(showing: .weather, .temperatures, .levels) { cache in
      guard let lake = Lake.known.first(where: { $0.id == lake.text }) else {
        throw Failure(
          .noSuchKey, "there is no lake \(lake.text)",
          hint: "one of \(Lake.known.map(\.id).joined(separator: ", "))")
      }
      let now = cache.store.now
      var (count, failures): (Int, [any Error]) = (0, [])
      /// A part that is not available is named, and hides no other.
      func part<Value: Encodable>(
        _ name: String, _ words: (Value) throws -> String?,
        _ ask: () async throws -> CacheResult<Value>?
      ) async throws {
        do {
          guard let found = try await ask(), let words = try words(found.value) else {
            return Console.complain("\(name): no source has a value of \(lake.name)")
          }
          try session.place.store.show(
            Sourced(found, of: name), [name.padded(to: 13) + words + " (\(found.words))"])
          count += 1
          if let error = found.error { failures.append(error) }
        } catch let error as Failure { throw error } catch {
          try Task.checkCancellation()
          Console.complain("\(name): \(error)")
          failures.append(error)
        }
      }
      func weather(_ forecasts: [Forecast]) -> String? {
        forecasts.nearest(to: now).map { "\($0.celsius) C, \($0.words)" }
      }
      func water(_ water: WaterTemperature) -> String? {
        "\(water.celsius) C, by a \(water.origin.rawValue)"
      }
      func day(_ sun: SunTimes) throws -> String? {
        try [sun.rise, sun.set].compactMap(\.self).map(SwissTime.clock).joined(separator: " to ")
      }
      try await part("weather", weather) { try await cache.forecasts(for: lake) }
      try await part("temperature", water) { try await cache.temperature(of: lake) }
      try await part("level", { "\($0) m" }) { try await cache.level(of: lake) }
      // The sun is computed without any service.
      if let refusal = failures.first(where: { Failure($0, credential: nil).code == .refused })
        ?? (count == 0 ? failures.first : nil)
      {
        throw Failure(refusal, credential: "--weather-key")
      }
      try await part("sun", day) { try await cache.sun(at: lake) }
    }
  }
}
