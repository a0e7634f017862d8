import ArgumentParser
import Departures
import ExampleProgram
import Larder

struct LoadFavourites: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "favourites",
    abstract: "Fetches the boards of favourite stations, as an app does at its start.")

  @Argument(help: "Numbers of stations, the most important first.") var stations: [String]
  @OptionGroup var session: Session

  func run() async throws {
    var failed = 0
    try await session.show(.boards) { cache in
      let came = try await follow(cache.prefetch(stations))
      failed = came.failed
      return ["\(came.loaded) loaded, \(came.present) fresh already, \(failed) failed"]
    }
    if failed > 0 { throw ExitCode(Failure.Code.failed.rawValue) }
  }
}

struct Publish: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Writes the next departures for the widget, as an app does in the background.")

  @Argument(help: "Numbers of stations.") var stations: [String]
  @OptionGroup var session: Session

  func run() async throws {
    var failed = 0
    try await session.show(.next) { cache in
      failed = try await follow(cache.enterBackground(stations)).failed
      return try stations.map { station in
        let count = try cache.published(from: station, limit: .max).count
        return "\(station): \(count) departures for the widget"
      }
    }
    if failed > 0 { throw ExitCode(Failure.Code.failed.rawValue) }
  }
}

struct ShowWidget: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "widget", abstract: "The next departures that the app wrote; sends no request.",
    discussion: "With --watch it prints them again after each change, and when one has left.")

  @Argument(help: "Numbers of stations.") var stations: [String]
  @Option(help: "Departures of each station.") var rows = 3
  @Flag(help: "Print them again whenever they change.") var watch = false
  @OptionGroup var session: Session

  func run() async throws {
    try await session.show { cache in
      try await cache.watch(stations, limit: rows) { next in
        let rows = try next.map { try $0.row + "  from \($0.station)" }
        try session.place.show(rows.isEmpty ? ["no departures"] : rows)
        return watch
      }
      return []
    }
  }
}

/// Prints each failure. If a service refused a request, throws this failure.
private func follow(_ prefetch: Prefetch<Errand>) async throws -> Prefetch<Errand>.Summary {
  for await step in prefetch {
    guard case .failed(let error) = step.outcome else { continue }
    Console.complain("\(step.key): \(error)")
    if Failure(error, credential: nil).code == .refused { throw error }
  }
  return await prefetch.finish()
}
