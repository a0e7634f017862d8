import ArgumentParser
import Departures
import ExampleProgram
import Larder

struct LoadFavourites: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "favourites",
    abstract: "Fetches the boards of stations before anybody asks, and shows them in the widget.")

  @Argument(help: "Numbers of stations, in the order of their importance.")
  var stations: [String] = []

  @Flag(help: "Print JSON.")
  var json = false

  @OptionGroup var session: Session

  private struct Summary: Encodable {
    var present = 0
    var loaded = 0
    var failed = 0
    var left = 0
  }

  func run() async throws {
    let store = try session.opened()
    let cache = try session.cache(in: store)
    let widget = Widget(store)
    var settings = try widget.settings
    if !stations.isEmpty {
      settings.stations = stations
      try widget.save(settings)
    }
    let line = ProgressLine.ifWatched
    let prefetch = try cache.prefetch(try settings.named())
    for await step in prefetch {
      line?.advance("boards", done: step.done, of: step.total)
      if case .failed(let error) = step.outcome {
        line?.clear()
        Console.complain("\(step.key): \(error)")
      }
    }
    line?.clear()
    let came = await prefetch.finish()
    if json {
      print(
        try JSONOutput.text(
          Summary(
            present: came.present, loaded: came.loaded, failed: came.failed, left: came.remaining)))
    } else {
      print("\(came.loaded) loaded, \(came.present) fresh already, \(came.failed) failed")
      session.close(.boards, .settings)
    }
    try store.close()
    if came.failed > 0 { throw ExitCode(Failure.Code.failed.rawValue) }
  }
}

extension WidgetSettings {
  /// The stations; an error if there are none.
  func named() throws(Failure) -> [String] {
    guard stations.isEmpty else { return stations }
    throw Failure(
      .usage, "no station is named, and none is saved",
      hint: "larder-departures favourites 8503651 8503669 saves two")
  }
}

struct Publish: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Leaves for the widget what departs next: what an app does as it leaves the screen.")

  @Argument(help: "Numbers of stations; without them those of the widget's settings.")
  var stations: [String] = []

  @Flag(help: "Print JSON: when it began to write, in milliseconds since 1970, and how much.")
  var json = false

  @OptionGroup var session: Session

  private struct Done: Encodable {
    var station: String
    var departures: Int
    var began: Int64
  }

  func run() async throws {
    let store = try session.opened()
    let cache = try session.cache(in: store)
    let widget = Widget(store)
    let stations = try stations.isEmpty ? widget.settings.named() : stations
    let names = try await cache.shipNames()
    if let error = names.error { Console.complain("names of ships: \(error)") }
    var failed = false
    for station in stations {
      do {
        let board = try await cache.board(at: station)
        if let error = board.error { Console.complain("\(station): \(error)") }
        let next = board.value.next(at: store.now, ships: names.day)
        // What takes its time is the service, not the store.
        let began = SystemClock().now
        try widget.publish(next, for: station)
        let done = Done(station: station, departures: next.count, began: began.milliseconds)
        print(
          json ? try JSONOutput.text(done) : "\(station): \(next.count) departures for the widget")
      } catch {
        try Task.checkCancellation()
        Console.complain("\(station): \(error)")
        failed = true
      }
    }
    if !json { session.close(.next) }
    try store.close()
    if failed { throw ExitCode(Failure.Code.failed.rawValue) }
  }
}
