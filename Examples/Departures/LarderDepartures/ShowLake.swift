import ArgumentParser
import Departures
import ExampleProgram
import Larder

struct ShowLake: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lake", abstract: "Weather, water and sun of a lake today.")

  @Argument(help: "The lake's id, zuerichsee.") var lake: NonEmpty
  @OptionGroup var session: Session

  private struct Report: Encodable {
    var lake: Lake
    var weather: Sourced<Forecast.Step>?
    var temperature: Sourced<WaterTemperature>?
    var level: Sourced<WaterLevel>?
    var sun: SunTimes
  }

  func run() async throws {
    try await session.open(showing: [.weather, .temperatures, .levels]) { cache in
      guard let lake = cache.lake(lake.text) else {
        throw Failure(
          .noSuchKey, "no lake \(lake.text)",
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
          guard let step = forecast.value.step(at: cache.store.now) else {
            Console.complain("weather: the forecast ended before now")
            return nil
          }
          return Sourced(forecast, step)
        },
        temperature: try await part("water") {
          try await cache.temperature(of: lake).map { Sourced($0) }
        },
        level: try await part("level") {
          try await cache.level(of: lake).map { Sourced($0) }
        },
        sun: try await cache.sun(at: lake).value)
      // The sun is computed without any service.
      guard report.weather != nil || report.temperature != nil || report.level != nil else {
        throw refusal ?? Failure(.failed, "there is no data about \(lake.name)")
      }
      try session.show(report, rows(of: report))
      if let refusal { throw refusal }
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

  private func rows(of report: Report) throws -> [String] {
    let weather = report.weather.map {
      "air    \($0.value.celsius) C, \($0.value.words) (\($0.words))"
    }
    let water = report.temperature.map {
      "water  \($0.value.celsius) C, by a \($0.value.origin.rawValue) (\($0.words))"
    }
    let level = report.level.map { "level  \($0.value.metres) m (\($0.words))" }
    var rows = [weather, water, level].compactMap(\.self)
    if let rise = report.sun.rise, let set = report.sun.set {
      rows.append("sun    \(try SwissTime.clock(rise)) to \(try SwissTime.clock(set))")
    }
    return [report.lake.name] + rows.map { "  " + $0 }
  }
}
