import ArgumentParser
import Departures
import ExampleProgram
import Larder
import Service

@main
struct LarderDepartures: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "larder-departures",
    abstract: "Departures, weather, lakes and ships for boats on Swiss lakes, cached in a store.",
    discussion: """
      Exit codes: 0 done, 1 no such thing, 2 usage, 3 the store cannot be opened, 4 the store or a service failed, \
      5 refused, 130 interrupted.
      """,
    version: Store.version,
    subcommands: [
      ShowBoard.self, ShowLake.self, LoadFavourites.self, Publish.self, ShowWidget.self,
    ])

  static func main() async {
    await Failure.run(Self.self, credential: "--weather-key, if it is the weather") { error in
      (error as? NotFound).map { Failure(.noSuchKey, $0.description) }
    }
  }
}

struct Session: ParsableArguments {
  @OptionGroup var place: Place
  @Option(help: "One address for all services; its data are kept apart.") var base: String?
  @Option(help: "The key for OpenWeather.") var weatherKey = ""
  @Option(help: "The time: 2025-07-12T08:30:00+0200. Default: now, or that of the recording.")
  var now: String?

  /// Opens the store, calls `body`, prints its rows, and then prints the output of `larder` commands about the `namespaces`.
  func show(
    _ namespaces: BoatNamespace..., rows body: (DeparturesCache) async throws -> [String]
  ) async throws {
    let time = now ?? (place.offline ? "2025-07-12T08:30:00+0200" : nil)
    var options = Store.Options()
    if let time {
      guard let start = SwissTime.moment(time) else {
        throw ValidationError("\"\(time)\" is not a time; give 2025-07-12T08:30:00+0200")
      }
      options.clock = ShiftedClock(from: start)
    }
    try await place.open(options) { store, transport in
      var cache = try DeparturesCache(
        in: store, base: place.offline ? Place.recording : base, over: transport,
        weatherKey: weatherKey, log: place.log)
      cache.waitsForNewer = true
      let rows = try await body(cache)
      // With a past `--now`, entries have expired by the clock of the machine, so `larder` shows them only with `--expired`.
      let looks = namespaces.map { namespace in
        "keys @\(cache.cache(of: JSON.self, in: namespace).name) --limit 5"
          + (time == nil ? "" : " --expired")
      }
      try place.show(rows, closing: looks.isEmpty ? [] : looks + ["stats"])
    }
  }
}

/// The clock of the system, shifted so that it begins at another time.
struct ShiftedClock: LarderClock {
  private let system = SystemClock()
  private let shift: Duration

  init(from start: Timestamp) { shift = system.now.duration(to: start) }
  var now: Timestamp { system.now.advanced(by: shift) }
  var monotonic: Duration { system.monotonic }
}

struct ShowBoard: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "board", abstract: "The departures of a station.")

  @Argument(help: "The number of a station.") var station: String
  @OptionGroup var session: Session

  func run() async throws {
    try await session.show(.boards, .ships) { cache in
      let found = try await cache.board(at: station)
      let board = found.value
      let ships = try await cache.ships()
      if let error = ships.error { Console.complain("names of ships: \(error)") }
      let named = ships.value["\(board.day)"] ?? [:]
      let rows = try board.departures.map { try $0.named(by: named).row }
      return ["\(board.station), \(board.day): \(found.words)"]
        + (rows.isEmpty ? ["no departures"] : rows)
    }
  }
}

extension Departure {
  /// The time with the delay, the name, the destination and the ship.
  var row: String {
    get throws {
      let delay = delay ?? 0
      let late = delay == 0 ? "" : delay > 0 ? " +\(delay)" : " \(delay)"
      let time = try SwissTime.clock(time) + (isCancelled ? " off" : late)
      let ship = ship.map { "  (\($0))" } ?? ""
      return "\(time.padded(to: 9)) \(name.padded(to: 9)) \(destination)\(ship)"
    }
  }
}

struct ShowLake: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lake", abstract: "Weather, water and sun of a lake today.")

  @Argument(help: "The lake's id, zuerichsee.") var lake: String
  @OptionGroup var session: Session

  func run() async throws {
    try await session.show(.weather, .temperatures, .levels) { cache in
      guard let lake = Lake.known.first(where: { $0.id == lake }) else {
        let ids = Lake.known.map(\.id).joined(separator: ", ")
        throw Failure(.noSuchKey, "there is no lake \(lake)", hint: "one of \(ids)")
      }
      return [
        try await row("temperature", try await cache.temperature(of: lake)) {
          "\($0.celsius) C, by a \($0.origin.rawValue)"
        }, try await row("level", try await cache.level(of: lake)) { "\($0) m" },
        try await row("sun", try await cache.sun(at: lake)) {
          "\(try SwissTime.clock($0.rise)) to \(try SwissTime.clock($0.set))"
        },
        try await row("weather", try await cache.forecasts(for: lake)) {
          $0.first { $0.time > cache.store.now }.map { "\($0.celsius) C, \($0.words)" } ?? "unknown"
        },
      ]
    }
  }

  /// The row for a part of the data. If the part is not available, the row has the error. A refusal ends the command.
  private func row<Value>(
    _ name: String, _ found: @autoclosure () async throws -> CacheResult<Value>,
    _ words: (Value) throws -> String
  ) async throws -> String {
    do {
      let found = try await found()
      return try name.padded(to: 13) + words(found.value) + " (\(found.words))"
    } catch  where error is NotFound || (error as? ServiceError)?.isRefusal == false {
      return name.padded(to: 13) + "unknown: \(error)"
    }
  }
}
