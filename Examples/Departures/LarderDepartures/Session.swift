import ArgumentParser
import Departures
import ExampleProgram
// For the words of its errors.
import Foundation
import Larder

/// Where a command keeps things, and where it gets them from.
struct Session: ParsableArguments {
  @Option(help: "The store.")
  var store = "departures.larder"

  @OptionGroup var answers: Answers

  @Option(help: "One address for all services, in the place of their own.")
  var base: String?

  @Option(
    help: "Where ship names and the report of the lakes come from; without it nobody is asked.")
  var boats: String?

  @Option(help: "The key for OpenWeather.")
  var weatherKey = ""

  @Option(
    help: """
      The moment that it is, 2025-07-12T08:30:00+0200; with --offline that of the recording. Time goes on from there.
      """)
  var now: String?

  @Option(help: "A file with more lakes: a list of records, as README.md has one.")
  var lakes: String?

  func opened() throws -> Store {
    var options = Store.Options()
    if let start = try start() { options.clock = LateClock(from: start) }
    return try Store.opened(at: store, options: options)
  }

  func cache(in store: Store) throws -> DeparturesCache {
    var addresses = base.map { Addresses(all: $0) } ?? Addresses()
    if let boats { addresses.boats = boats }
    if answers.offline { addresses = Addresses(all: "https://recording.invalid") }
    let services = Services(
      at: addresses, over: try answers.transport(), in: store, weatherKey: weatherKey)
    var cache = try DeparturesCache(store, services: services, lakes: Lake.known + more())
    cache.manner = .afterAsking
    return cache
  }

  private func start() throws -> Timestamp? {
    var text = now
    if answers.offline, text == nil {
      let file = answers.folder() + "/now"
      do {
        text = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
          .filter { !$0.isWhitespace }
      } catch {
        throw ValidationError(
          "the recording has no moment in \(file): \(error.localizedDescription)")
      }
    }
    guard let text else { return nil }
    guard let start = SwissTime.moment(text) else {
      throw ValidationError("\"\(text)\" is no moment; say 2025-07-12T08:30:00+0200")
    }
    return start
  }

  private func more() throws -> [Lake] {
    guard let lakes else { return [] }
    do {
      return try JSONDecoder().decode([Lake].self, from: Data(contentsOf: URL(filePath: lakes)))
    } catch {
      throw ValidationError("\(lakes) has no records of lakes: \(error)")
    }
  }

  /// The last words. Of a moment in the past everything that ends has ended by the clock of `larder`.
  func close(_ shelves: Shelf...) {
    let looks = shelves.map { shelf in
      let isPast = (answers.offline || now != nil) && shelf.rules.expires != .never
      return "keys @\(shelf.name) --limit 5" + (isPast ? " --expired" : "")
    }
    print(Closing(store: store, commands: looks + ["stats"]).text)
  }
}

/// Begins at a moment, and goes as fast as the system's from there: for what was recorded.
struct LateClock: LarderClock {
  private let system = SystemClock()
  private let shift: Duration

  init(from start: Timestamp) { shift = system.now.duration(to: start) }

  var now: Timestamp { system.now.advanced(by: shift) }
  var monotonic: Duration { system.monotonic }
}

extension RequestPolicy {
  static func named(_ name: String) throws -> RequestPolicy {
    guard let policy = RequestPolicy(rawValue: name) else {
      let names = allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("\"\(name)\" is no policy; say one of \(names)")
    }
    return policy
  }
}

extension CalendarDay {
  static func named(_ text: String) throws -> CalendarDay {
    guard let day = CalendarDay(text) else {
      throw ValidationError("\"\(text)\" is no day; say 2025-07-12")
    }
    return day
  }
}
