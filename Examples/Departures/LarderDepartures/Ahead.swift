import ArgumentParser
import Departures
import ExampleProgram
import Larder

struct LoadFavourites: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "favourites",
    abstract: "Saves the favourite stations and fetches their boards, as an app does at its start.")

  @Argument(help: "Numbers of stations, the most important first. Default: the saved ones.")
  var stations: [NonEmpty] = []
  @Option(help: "Departures of each station in the widget.") var rows: Int?
  @OptionGroup var session: Session

  func run() async throws {
    try await session.open(showing: .boards, .settings) { cache in
      let widget = Widget(cache)
      var settings = try widget.settings
      settings.stations = try stations.numbers(or: settings)
      settings.rows = rows ?? settings.rows
      try widget.save(settings)
      let came = try await session.follow(cache.prefetch(settings.stations ?? []))
      try session.place.store.show(
        ["loaded": came.loaded, "fresh": came.present, "failed": came.failed],
        ["\(came.loaded) loaded, \(came.present) fresh already, \(came.failed) failed"])
    }
  }
}

struct Publish: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Writes the next departures for the widget, as an app does in the background.")

  @Argument(help: "Numbers of stations. Default: the saved ones.") var stations: [NonEmpty] = []
  @OptionGroup var session: Session

  func run() async throws {
    try await session.open(showing: .next) { cache in
      let widget = Widget(cache)
      let stations = try stations.numbers(or: widget.settings)
      _ = try await session.follow(cache.enterBackground(stations))
      for station in stations {
        let count = try widget.departures(from: station, limit: Widget.most).count
        try session.place.store.show(
          [station: count], ["\(station): \(count) departures for the widget"])
      }
    }
  }
}

struct ShowWidget: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "widget", abstract: "The next departures that the app wrote; sends no request.",
    discussion: "With --watch it prints them again after each change, and when one has left.")

  @Argument(help: "Numbers of stations. Default: the saved ones.") var stations: [NonEmpty] = []
  @Option(help: "Departures of each station. Default: the saved number, or 3.") var rows: Int?
  @Flag(help: "Print them again whenever they change.") var watch = false
  @OptionGroup var session: Session

  func run() async throws {
    try await session.open { cache in
      let widget = Widget(cache)
      let stations = try stations.numbers(or: widget.settings)
      try await widget.watch(stations, limit: rows) { next in
        if next.isEmpty, !watch {
          throw Failure(
            .noSuchKey, "nothing is published of \(stations.joined(separator: ", "))",
            hint: "larder-departures publish fetches the departures")
        }
        let rows = try next.map { departure in
          let ship = departure.ship.map { "  (\($0))" } ?? ""
          return "\(try SwissTime.clock(departure.leaves))  \(departure.name.padded(to: 9))"
            + "\(departure.destination)\(ship)  from \(departure.station)"
        }
        try session.place.store.show(next, rows.isEmpty ? ["no departures"] : rows)
        return watch
      }
    }
  }
}

extension Session {
  /// Shows the progress of a prefetch, and names each failure; a refusal ends the command.
  func follow(_ prefetch: Prefetch<Errand>) async throws -> Prefetch<Errand>.Summary {
    let line = ProgressLine.atTerminal
    var failures: [any Error] = []
    for await step in prefetch {
      line?.advance("boards", done: step.done, of: step.total)
      guard case .failed(let error) = step.outcome else { continue }
      line?.clear()
      Console.complain("\(step.key): \(error)")
      failures.append(error)
    }
    line?.clear()
    if let refusal = failures.first(where: { Failure($0, credential: nil).code == .refused }) {
      throw refusal
    }
    return await prefetch.finish()
  }
}

extension [NonEmpty] {
  /// The numbers of stations, each once; the saved ones if none is given.
  fileprivate func numbers(or settings: WidgetSettings) throws(Failure) -> [String] {
    if let name = first(where: { !$0.text.allSatisfy(\.isNumber) })?.text {
      throw Failure(
        .usage, "\"\(name)\" is not the number of a station",
        hint: "larder-departures search \(name.shellWord) finds numbers")
    }
    var seen: Set<String> = []
    let stations = isEmpty ? settings.stations ?? [] : map(\.text.withoutZeros)
    if stations.isEmpty {
      throw Failure(
        .usage, "no station is given, and none is saved",
        hint: "larder-departures favourites 8503651 8503669 saves two")
    }
    return stations.filter { seen.insert($0).inserted }
  }
}
