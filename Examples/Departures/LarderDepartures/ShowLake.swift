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
    /// Why the others are missing.
    var missing: [String: String] = [:]
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
      var report = Report(lake: lake, sun: try await cache.sun(at: lake).value)
      /// Nil for a part that is not available, after a message.
      func part<Value>(
        _ name: String, absence: String, _ ask: () async throws -> Value?
      ) async throws -> Value? {
        var reason = absence
        do {
          if let value = try await ask() { return value }
        } catch {
          try Task.checkCancellation()
          reason = "\(error)" + (error is NoAddress ? "; give it with --boats" : "")
        }
        Console.complain("\(name): \(reason)")
        report.missing[name] = reason
        return nil
      }
      report.weather = try await part("weather", absence: "the forecast ended before now") {
        let forecast: CacheResult<Forecast>
        do {
          forecast = try await cache.forecast(of: lake)
        } catch {
          note(error)
          throw error
        }
        if let error = forecast.error { note(error) }
        return forecast.value.step(at: cache.store.now).map { Sourced(forecast, $0) }
      }
      report.temperature = try await part(
        "temperature", absence: "neither source has a value of \(lake.name)"
      ) {
        try await cache.temperature(of: lake).map { Sourced($0) }
      }
      report.level = try await part("level", absence: "the report has no value of \(lake.name)") {
        try await cache.level(of: lake).map { Sourced($0) }
      }
      // The sun is computed without any service.
      guard report.weather != nil || report.temperature != nil || report.level != nil else {
        throw refusal ?? Failure(.failed, "there is no data about \(lake.name)")
      }
      try session.show(report, rows(of: report))
      if let refusal { throw refusal }
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
