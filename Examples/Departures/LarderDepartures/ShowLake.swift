import ArgumentParser
import Departures
import ExampleProgram
import Larder

struct ShowLake: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lake", abstract: "Weather, water and sun of a lake today.")

  @Argument(help: "The lake's id, zuerichsee.")
  var lake: String

  @Flag(help: "Print JSON.")
  var json = false

  @OptionGroup var session: Session

  private struct Report: Encodable {
    var lake: Lake
    var weather: Forecast.Step?
    var temperature: WaterTemperature?
    var level: WaterLevel?
    var sun: SunTimes

    /// The sun needs nobody to tell it.
    var isOfAnyUse: Bool { weather != nil || temperature != nil || level != nil }
  }

  func run() async throws {
    let store = try session.opened()
    let cache = try session.cache(in: store)
    guard let lake = cache.lake(lake) else {
      throw Failure(
        .noSuchKey, "no lake \(lake)",
        hint: "one of \(cache.lakes.map(\.id).joined(separator: ", ")); --lakes FILE adds more")
    }
    let report = Report(
      lake: lake,
      weather: try await part("weather") {
        try await cache.forecast(of: lake).value.step(at: store.now)
      },
      temperature: try await part("water") { try await cache.temperature(of: lake)?.value },
      level: try await part("level") { try await cache.level(of: lake)?.value },
      sun: try await cache.sun(at: lake).value)
    guard report.isOfAnyUse else {
      throw Failure(.failed, "nobody tells anything of \(lake.name)")
    }
    if json {
      print(try JSONOutput.text(report))
    } else {
      try show(report)
      session.close(.weather, .temperatures, .levels)
    }
    try store.close()
  }

  /// What is not to be had does not keep the rest from being shown.
  private func part<Value>(_ name: String, _ ask: () async throws -> Value?) async throws -> Value?
  {
    do {
      return try await ask()
    } catch {
      try Task.checkCancellation()
      let hint = error is NoAddress ? "; --boats says it" : ""
      Console.complain("\(name): \(error)\(hint)")
      return nil
    }
  }

  private func show(_ report: Report) throws {
    print(report.lake.name)
    if let weather = report.weather { print("  air    \(weather.celsius) C, \(weather.words)") }
    if let water = report.temperature {
      print("  water  \(water.celsius) C, by a \(water.origin.rawValue)")
    }
    if let level = report.level { print("  level  \(level.metres) m") }
    if let rise = report.sun.rise, let set = report.sun.set {
      print("  sun    \(try SwissTime.clock(rise)) to \(try SwissTime.clock(set))")
    }
  }
}
