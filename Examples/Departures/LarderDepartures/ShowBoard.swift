import ArgumentParser
import Departures
import ExampleProgram
import Larder

/// An answer, with where it comes from.
struct Answer<Value: Encodable>: Encodable {
  var value: Value
  var source: String
  /// In seconds.
  var age: Int
  var error: String?

  init<Held>(_ loaded: CacheResult<Held>, _ value: Value) {
    self.value = value
    source = loaded.source.rawValue
    age = Int(loaded.age / .seconds(1))
    error = loaded.error.map { "\($0)" }
  }

  var words: String {
    let stale = source == "stale" ? ", past its freshness" : ""
    return "\(source)\(stale), \(age) s old" + (error.map { "; \($0)" } ?? "")
  }
}

struct ShowBoard: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "board", abstract: "What leaves a station on a day.")

  @Argument(help: "The number of a station, 8503651; `search` finds it.")
  var station: String

  @Option(
    help: "The day in Zurich, 2025-07-12; today unless said.", transform: CalendarDay.named)
  var day: CalendarDay?

  @Option(
    help:
      "standard, cacheElseLoad, cacheOnly, revalidate or reload: ask the store, the service, or both.",
    transform: RequestPolicy.named)
  var policy: RequestPolicy = .standard

  @Flag(help: "Ask twice, and say how long each took.")
  var twice = false

  @Flag(help: "Print JSON.")
  var json = false

  @OptionGroup var session: Session

  func run() async throws {
    let store = try session.opened()
    let cache = try session.cache(in: store)
    let clock = ContinuousClock()
    let start = clock.now
    var board = try await cache.board(at: station, on: day, policy: policy)
    if twice {
      let first = clock.now - start
      let again = clock.now
      let rounds = 1000
      for _ in 0..<rounds { board = try await cache.board(at: station, on: day) }
      let each = (clock.now - again) / rounds
      Console.complain("first \(first / .microseconds(1)) us, then \(each / .microseconds(1)) us")
    }
    let names = try await cache.shipNames(on: board.value.day, policy: policy)
    if let error = names.error { Console.complain("names of ships: \(error)") }
    if json {
      print(try JSONOutput.text(Answer(board, board.value)))
    } else {
      print("\(board.value.station.name), \(board.value.day): \(Answer(board, 0).words)")
      for departure in board.value.departures {
        print(try Self.line(departure, ship: names.day.ship(of: departure)))
      }
      if board.value.departures.isEmpty { print("nothing leaves") }
      session.close(.boards, .ships)
    }
    try store.close()
  }

  static func line(_ departure: Departure, ship: String?) throws -> String {
    let delay = departure.delay.map { $0 == 0 ? "" : " +\($0)" } ?? ""
    let clock = (try SwissTime.clock(departure.time) + delay).padded(to: 10)
    let line = "\(departure.category) \(departure.line)".padded(to: 10)
    let platform = departure.platform.map { "  platform \($0)" } ?? ""
    return clock + line + departure.destination + platform + (ship.map { "  (\($0))" } ?? "")
  }
}
