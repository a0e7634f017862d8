import ArgumentParser
import Departures
import ExampleProgram
import Foundation
import Larder
import Service

struct LoadFavourites: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "favourites",
    abstract: "Saves the favourite stations and fetches their boards ahead of use.")

  @Argument(help: "Numbers of stations, the most important first. Default: the saved ones.")
  var stations: [NonEmpty] = []

  @Option(help: "Departures of each station in the widget.") var rows: Int?

  @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Show ship names in the widget.")
  var ships: Bool?

  @OptionGroup var session: Session

  func validate() throws { try rows.checkRows() }

  func run() async throws {
    var failures: [any Error] = []
    try await session.open(showing: [.boards, .settings]) { cache in
      let widget = cache.widget
      var settings = try widget.settings
      let before = settings
      if !stations.isEmpty { settings.stations = try stations.numbers() }
      settings.rows = rows ?? settings.rows
      settings.showsShips = ships ?? settings.showsShips
      if settings != before { try widget.save(settings) }
      let line = ProgressLine.atTerminal
      let prefetch = try cache.prefetch(settings.named())
      for await step in prefetch {
        line?.advance("boards", done: step.done, of: step.total)
        if case .failed(let error) = step.outcome {
          line?.clear()
          Console.complain("\(step.key): \(error)")
          failures.append(error)
        }
      }
      line?.clear()
      let came = await prefetch.finish()
      try session.show(
        ["loaded": came.loaded, "fresh": came.present, "failed": came.failed],
        ["\(came.loaded) loaded, \(came.present) fresh already, \(came.failed) failed"])
    }
    try failures.checkEach()
  }
}

extension [NonEmpty] {
  /// The numbers of stations, each once; an error for a name.
  fileprivate func numbers() throws(Failure) -> [String] {
    if let name = first(where: { !$0.text.allSatisfy(\.isNumber) }) {
      throw Failure(
        .usage, "\"\(name.text)\" is not the number of a station",
        hint: "larder-departures search \(name.text.shellWord) finds numbers")
    }
    var seen: Set<String> = []
    return map(\.text.withoutZeros).filter { seen.insert($0).inserted }
  }
}

extension Int? {
  /// Throws unless the widget can have so many rows.
  fileprivate func checkRows() throws(ValidationError) {
    if let rows = self, !(1...Widget.most).contains(rows) {
      throw ValidationError("\(rows) rows are not possible: give 1 to \(Widget.most)")
    }
  }
}

extension WidgetSettings {
  /// The stations; an error if there are none.
  func named() throws(Failure) -> [String] {
    guard stations.isEmpty else { return stations }
    throw Failure(
      .usage, "no station is given, and none is saved",
      hint: "larder-departures favourites 8503651 8503669 saves two")
  }
}

struct Publish: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Writes the next departures for the widget, as an app does when it leaves the screen."
  )

  @Argument(help: "Numbers of stations. Default: those of the widget's settings.")
  var stations: [NonEmpty] = []

  @OptionGroup var session: Session

  func run() async throws {
    var failures: [any Error] = []
    try await session.open(showing: [.next]) { cache in
      let stations = try stations.isEmpty ? cache.widget.settings.named() : stations.numbers()
      let names = try await cache.shipNames()
      if let error = names.error { Console.complain("names of ships: \(error)") }
      for station in stations {
        do {
          let board = try await cache.board(at: station)
          if let error = board.error {
            Console.complain("\(station): \(error)")
            if (error as? ServiceError)?.isRefusal == true { failures.append(error) }
          }
          if let gap = try board.value.gap { Console.complain("\(station): \(gap)") }
          let next = try await cache.publish(station)
          // A number of a station is no name of a time.
          try session.place.store.show(
            [station: next.count], ["\(station): \(next.count) departures for the widget"])
        } catch {
          try Task.checkCancellation()
          Console.complain("\(station): \(error)")
          failures.append(error)
        }
      }
    }
    try failures.checkEach()
  }
}

struct ShowWidget: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "widget", abstract: "The next departures that the app wrote; sends no request.",
    discussion: "With --watch it prints them again after each change, and when one has left.")

  @Argument(help: "Numbers of stations. Default: those of the widget's settings.")
  var stations: [NonEmpty] = []

  @Option(help: "Departures of each station. Default: as the settings say.") var rows: Int?
  @Flag(help: "Print them again whenever they change.") var watch = false
  @OptionGroup var session: Session

  func validate() throws { try rows.checkRows() }

  func run() async throws {
    try await session.open(showing: watch ? [] : [.next, .settings]) { cache in
      let widget = cache.widget
      let stations = try stations.isEmpty ? widget.settings.named() : stations.numbers()
      let unknown = try stations.filter {
        try widget.board(of: $0) == nil && widget.departures(from: $0, limit: 1).isEmpty
      }
      let reason = "nothing is published yet"
      let hint =
        "larder-departures publish \(unknown.joined(separator: " ")) fetches the departures"
      if unknown == stations, !watch {
        throw Failure(.noSuchKey, "\(unknown.joined(separator: ", ")): \(reason)", hint: hint)
      }
      for station in unknown { Console.complain("\(station): \(reason)") }
      for try await next in widget.updates(of: stations, limit: rows) {
        let board = next.isEmpty ? try stations.lazy.compactMap(widget.board).first : nil
        try show(next, instead: board?.absence ?? reason)
        if !watch { break }
      }
    }
  }

  private func show(_ next: [NextDeparture], instead absence: String) throws {
    let rows = try next.map { departure in
      let line = (departure.line + " ").padded(to: 6) + departure.destination
      let ship = departure.ship.map { "  (\($0))" } ?? ""
      return "\(try SwissTime.clock(departure.leaves))  \(line)\(ship)  from \(departure.station)"
    }
    try session.show(next, rows.isEmpty ? [absence] : rows)
  }
}
