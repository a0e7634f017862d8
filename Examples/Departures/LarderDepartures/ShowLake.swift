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
    var weather: Sourced<Forecast.Step>?
    var temperature: Sourced<WaterTemperature>?
    var level: Sourced<WaterLevel>?
    var sun: SunTimes
  }

  func run() async throws {
    try await session.open(showing: json ? nil : [.weather, .temperatures, .levels]) { cache in
      guard let lake = cache.lake(lake) else {
        throw Failure(
          .noSuchKey, "no lake \(lake)",
          hint: "one of \(cache.lakes.map(\.id).joined(separator: ", ")); --lakes FILE adds more")
      }
      // The weather service alone has a credential.
      var refusal: Failure?
      func note(_ error: any Error) {
        let failure = Failure(error, credential: "--weather-key")
        if failure.code == .refused { refusal = failure }
      }
      let report = Report(
        lake: lake,
        weather: try await part("weather") {
          let forecast: CacheResult<Forecast>
          do {
            forecast = try await cache.forecast(of: lake)
          } catch {
            note(error)
            throw error
          }
          if let error = forecast.error { note(error) }
          return forecast.value.step(at: cache.store.now).map { Sourced(forecast, $0) }
        },
        temperature: try await part("water") {
          try await cache.temperature(of: lake).map { Sourced($0, $0.value) }
        },
        level: try await part("level") {
          try await cache.level(of: lake).map { Sourced($0, $0.value) }
        },
        sun: try await cache.sun(at: lake).value)
      // The sun is computed without any service.
      guard report.weather != nil || report.temperature != nil || report.level != nil else {
        throw refusal ?? Failure(.failed, "there is no data about \(lake.name)")
      }
      if let hint = refusal?.hint { Console.complain("hint: \(hint)") }
      if json { return print(try JSONOutput.withTimes(report)) }
      try show(report)
    }
  }

  /// Nil for a part that is not available, after a message.
  private func part<Value>(_ name: String, _ ask: () async throws -> Value?) async throws -> Value?
  {
    do {
      return try await ask()
    } catch {
      try Task.checkCancellation()
      let hint = error is NoAddress ? "; give it with --boats" : ""
      Console.complain("\(name): \(error)\(hint)")
      return nil
    }
  }

  private func show(_ report: Report) throws {
    print(report.lake.name)
    if let weather = report.weather {
      Console.show("  air    \(weather.value.celsius) C, \(weather.value.words) (\(weather.words))")
    }
    if let water = report.temperature {
      print(
        "  water  \(water.value.celsius) C, by a \(water.value.origin.rawValue) (\(water.words))")
    }
    if let level = report.level { print("  level  \(level.value.metres) m (\(level.words))") }
    if let rise = report.sun.rise, let set = report.sun.set {
      print("  sun    \(try SwissTime.clock(rise)) to \(try SwissTime.clock(set))")
    }
  }
}
