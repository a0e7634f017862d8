import ArgumentParser
import Departures
import ExampleProgram
import Larder

struct LoadFavourites: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "favourites",
    abstract: "Saves the favourite stations and fetches their boards, as an app does at its start.")

  @Argument(help: "Numbers of stations, the most important first. Default: the saved ones.")
  var stations: [String] = []
  @Option(help: "Departures of each station in the widget.") var rows: Int?
  @OptionGroup var session: Session

  func run() async throws {
    try await session.show(.boards, .settings) { cache in
      let widget = Widget(cache)
      var settings = try widget.settings
      settings.stations = try stations.saved(in: settings)
      settings.rows = rows ?? settings.rows
      try widget.save(settings)
      let came = try await follow(cache.prefetch(settings.stations ?? []))
      return ["\(came.loaded) loaded, \(came.present) fresh already, \(came.failed) failed"]
    }
  }
}

struct Publish: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Writes the next departures for the widget, as an app does in the background.")

  @Argument(help: "Numbers of stations. Default: the saved ones.") var stations: [String] = []
  @OptionGroup var session: Session

  func run() async throws {
    try await session.show(.next) { cache in
      let widget = Widget(cache)
      let stations = try stations.saved(in: widget.settings)
      _ = try await follow(cache.enterBackground(stations))
      return try stations.map { station in
        let count = try widget.departures(from: station, limit: Widget.most).count
        return "\(station): \(count) departures for the widget"
      }
    }
  }
}

struct ShowWidget: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "widget", abstract: "The next departures that the app wrote; sends no request.",
    discussion: "With --watch it prints them again after each change, and when one has left.")

  @Argument(help: "Numbers of stations. Default: the saved ones.") var stations: [String] = []
  @Option(help: "Departures of each station. Default: the saved number, or 3.") var rows: Int?
  @Flag(help: "Print them again whenever they change.") var watch = false
  @OptionGroup var session: Session

  func run() async throws {
    try await session.show { cache in
      let widget = Widget(cache)
      let stations = try stations.saved(in: widget.settings)
      try await widget.watch(stations, limit: rows) { next in
        let rows = try next.map { departure in
          let ship = departure.ship.map { "  (\($0))" } ?? ""
          return "\(try SwissTime.clock(departure.leaves))  \(departure.name.padded(to: 9))"
            + "\(departure.destination)\(ship)  from \(departure.station)"
        }
        try session.place.show(rows.isEmpty ? ["no departures"] : rows)
        return watch
      }
      return []
    }
  }
}

/// Names each failure; a refusal ends the command.
private func follow(_ prefetch: Prefetch<Errand>) async throws -> Prefetch<Errand>.Summary {
  for await step in prefetch {
    guard case .failed(let error) = step.outcome else { continue }
    Console.complain("\(step.key): \(error)")
    if Failure(error, credential: nil).code == .refused { throw error }
  }
  return await prefetch.finish()
}

extension [String] {
  /// The numbers of stations, each once; the saved ones if none is given.
  fileprivate func saved(in settings: WidgetSettings) throws(Failure) -> [String] {
    var seen: Set<String> = []
    let stations = isEmpty ? settings.stations ?? [] : map(\.withoutZeros)
    if stations.isEmpty { throw Failure(.usage, "no station is given, and none is saved") }
    return stations.filter { seen.insert($0).inserted }
  }
}
