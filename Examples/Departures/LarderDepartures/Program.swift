public import ArgumentParser
public import Departures
import ExampleProgram
import Foundation
public import Larder
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
    version: exampleVersion,
    subcommands: [
      ShowBoard.self, ShowLake.self, FindStations.self, LoadFavourites.self, Publish.self,
      ShowWidget.self,
    ])

  static func main() async {
    await Failure.run(Self.self, credential: nil) { error in
      (error as? NotFound).map { Failure(.noSuchKey, $0.description) }
    }
  }
}

/// The store, the services and the time of a command.
struct Session: ParsableArguments {
  @OptionGroup var place: Place
  @Option(help: "One address for all services; its data are kept apart.") var base: NonEmpty?
  @Option(help: "The address of ship names and the report of the lakes; its data are kept apart.")
  var boats: NonEmpty?
  @Option(help: "The key for OpenWeather.") var weatherKey = ""
  @Option(help: "The time: 2025-07-12T08:30:00+0200. Default: now, or that of the recording.")
  var now: String?

  /// Opens the store, calls `body`, prints the closing lines, unless there is JSON, and closes the store.
  func open(
    showing namespaces: BoatNamespace..., body: (DeparturesCache) async throws -> Void
  ) async throws {
    let start = try start()
    var options = Store.Options()
    if let start { options.clock = ShiftedClock(from: start) }
    let store = try place.store.open(options)
    let isRecorded = place.recording.offline
    let client = BoatClient(
      base: isRecorded ? RecordingOption.address : base?.text,
      boats: isRecorded ? nil : boats?.text, over: try place.recording.transport(), in: store,
      weatherKey: weatherKey.trimmingBlanks, log: place.log)
    var cache = try DeparturesCache(store, client: client)
    cache.waitsForNewer = true
    try await body(cache)
    if !place.store.json, !namespaces.isEmpty {
      // With a time in the past, entries have expired for `larder`, which uses the machine's clock.
      let looks = namespaces.map { namespace in
        "keys @\(cache.cache(of: JSON.self, in: namespace).name) --limit 5"
          + (start != nil && namespace.rules.expires != .never ? " --expired" : "")
      }
      try Output.write(place.store.closing(looks + ["stats"]))
    }
    try store.close()
  }

  private func start() throws -> Timestamp? {
    var text = now
    if place.recording.offline, text == nil {
      let file = URL(filePath: place.recording.folder() + "/now")
      do { text = try String(contentsOf: file, encoding: .utf8).trimmingBlanks } catch {
        throw ValidationError("the recording has no time: cannot read \(file.path)")
      }
    }
    guard let text else { return nil }
    guard let start = SwissTime.moment(text) else {
      throw ValidationError("\"\(text)\" is not a time; give 2025-07-12T08:30:00+0200")
    }
    return start
  }

  /// Prints a result and its rows; then throws if the service refused the program, for the exit code.
  func show<Value>(
    _ result: CacheResult<Value>, _ value: some Encodable, _ rows: [String]
  ) throws {
    try place.store.show(value, rows)
    if let error = result.error as? ServiceError, error.isRefusal { throw error }
  }
}

/// The system's clock, shifted to begin at another time.
struct ShiftedClock: LarderClock {
  private let system = SystemClock()
  private let shift: Duration

  init(from start: Timestamp) { shift = system.now.duration(to: start) }
  var now: Timestamp { system.now.advanced(by: shift) }
  var monotonic: Duration { system.monotonic }
}

// Nobody imports a program, so no other conformance can meet this one.
// swift-format-ignore: AvoidRetroactiveConformances
extension RequestPolicy: @retroactive ExpressibleByArgument {}

extension CalendarDay: ExpressibleByArgument {}
