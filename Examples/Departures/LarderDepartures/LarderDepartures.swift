public import ArgumentParser
public import Departures
import ExampleProgram
// Data of files.
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
  @Option(help: "One address for all services.") var base: NonEmpty?

  @Option(
    help: "The address of the ship names and the report of the lakes, which have no public one.")
  var boats: NonEmpty?

  @Option(help: "The key for OpenWeather.") var weatherKey = ""

  @Option(
    help:
      "The current time, 2025-07-12T08:30:00+0200. Default: the clock's, or with --offline the recording's."
  )
  var now: String?

  @Option(help: "A file with more lakes: a list of records as in README.md.") var lakes: String?

  private var isPast: Bool { place.recording.offline || now != nil }
  var json: Bool { place.store.json }

  /// Prints a part of a command's result: JSON with the times as ISO 8601, or else rows.
  func show(_ value: some Encodable, _ rows: @autoclosure () throws -> [String]) throws {
    try place.store.show(JSONOutput.withTimes(value), rows())
  }

  /// Opens the store, calls `body`, prints the closing lines, unless there is JSON, and closes the store.
  ///
  /// - Parameter namespaces: the namespaces in the closing lines; none for none.
  func open(
    showing namespaces: [BoatNamespace], _ body: (DeparturesCache) async throws -> Void
  ) async throws {
    var options = Store.Options()
    if let start = try start() { options.clock = ShiftedClock(from: start) }
    let store = try place.store.open(options)
    var addresses = Addresses()
    if let base {
      addresses = Addresses(all: base.text)
      // Another service's data never appears as that of the usual one.
      addresses.realm = Realm(base: base.text, credential: "")
    }
    if let boats {
      addresses.boats = boats.text
      addresses.boatsRealm = Realm(
        base: boats.text, credential: "boats of " + Service.base(base?.text ?? ""))
    }
    if place.recording.offline {
      addresses = Addresses(all: RecordingOption.address)
      addresses.realm = Realm(base: RecordingOption.address, credential: "")
    }
    let services = Services(
      at: addresses, over: try place.recording.transport(), in: store,
      weatherKey: weatherKey.trimmingBlanks, log: place.log)
    var cache = try DeparturesCache(store, services: services, lakes: Lake.known + more())
    cache.waitsForNewer = true
    try await body(cache)
    if !json, !namespaces.isEmpty { try close(namespaces, of: services, in: store) }
    try store.close()
  }

  private func start() throws -> Timestamp? {
    var text = now
    if place.recording.offline, text == nil {
      let file = place.recording.folder() + "/now"
      do {
        text = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
          .filter { !$0.isWhitespace }
      } catch {
        throw ValidationError("the recording has no time: cannot read \(file)")
      }
    }
    guard let text else { return nil }
    guard let start = SwissTime.moment(text) else {
      throw ValidationError("\"\(text)\" is not a time; give 2025-07-12T08:30:00+0200")
    }
    return start
  }

  private func more() throws -> [Lake] {
    guard let lakes else { return [] }
    do {
      var more = try JSONDecoder().decode([Lake].self, from: Data(contentsOf: URL(filePath: lakes)))
      var known = Set(Lake.known.map(\.id))
      more.removeAll { lake in
        if known.insert(lake.id).inserted { return false }
        Console.complain("\(lakes): there is a lake \(lake.id) already; this record is ignored")
        return true
      }
      for lake in more.indices {
        var seen: Set<String> = []
        more[lake].stations.removeAll { !seen.insert($0.withoutZeros).inserted }
      }
      return more
    } catch {
      let reason = (error as? DecodingError)?.words ?? "it cannot be read"
      throw ValidationError("\(lakes) has no records of lakes: \(reason)")
    }
  }

  /// With a time in the past, entries have expired for `larder`, which uses the machine's clock.
  private func close(_ namespaces: [BoatNamespace], of services: Services, in store: Store) throws {
    let looks = namespaces.map { namespace in
      "keys @\(services.realm(of: namespace).name(namespace.name, in: store)) --limit 5"
        + (isPast && namespace.rules.expires != .never ? " --expired" : "")
    }
    try Output.write(place.store.closing(looks + ["stats"]))
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

extension JSONOutput {
  /// JSON with the times of this adapter as ISO 8601 in place of milliseconds.
  static func withTimes(_ value: some Encodable) throws -> JSON {
    converted(try JSONDecoder().decode(JSON.self, from: JSONEncoder().encode(value)))
  }

  private static let times: Set<String> = [
    "time", "expected", "arrival", "departure", "leaves", "reaches", "rise", "set",
  ]

  private static func converted(_ json: JSON) -> JSON {
    switch json {
    case .array(let values): return .array(values.map(converted))
    case .object(let members):
      return .object(
        Dictionary(
          uniqueKeysWithValues: members.map { name, value in
            if times.contains(name), let number = value.number {
              return (name, .string("\(Timestamp(milliseconds: Int64(number)))"))
            }
            return (name, converted(value))
          }))
    default: return json
    }
  }
}

extension CacheResult {
  /// Throws if the service refuses the program, for the exit code; a stored value has been shown then.
  ///
  /// - Parameter credential: names the option of the credential; nil for a service without one.
  func checkAccess(credential: String? = nil) throws(Failure) {
    guard let error else { return }
    let failure = Failure(error, credential: credential)
    if failure.code == .refused { throw failure }
  }
}

extension [any Error] {
  /// Ends the program with the exit code of what was reported already: that of a refusal, if there is one.
  func checkEach() throws(ExitCode) {
    let codes = map { Failure($0, credential: nil).code }
    if let code = codes.contains(.refused) ? .refused : codes.first {
      throw ExitCode(code == .noSuchKey ? Failure.Code.failed.rawValue : code.rawValue)
    }
  }
}

// Nobody imports a program, so no other conformance can meet this one.
// swift-format-ignore: AvoidRetroactiveConformances
extension RequestPolicy: @retroactive ExpressibleByArgument {}

extension CalendarDay: ExpressibleByArgument {}
