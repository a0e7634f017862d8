import Foundation
import Larder

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

struct Forecast: Codable {
  var sky: String
  var degrees: Double
}

@main struct Weather {
  static func main() async throws {
    let place = CommandLine.arguments.dropFirst().first ?? "zurich"
    let store = try Store(at: "weather.larder")
    let forecasts = store.cache(of: Forecast.self, in: "forecasts")
    let options = LoadOptions(
      expires: .after(.minutes(10)), stale: Staleness(onError: .hours(24)), waitsForCommit: true)
    do {
      let forecast = try await forecasts.result(for: place, options: options) {
        try await load(place)
      }
      print(place, forecast.value.sky, forecast.value.degrees, "from", forecast.source)
    } catch {
      print("no forecast for", place)
    }
    try store.close()
  }

  static func load(_ place: String) async throws -> Forecast {
    let service = ProcessInfo.processInfo.environment["SERVICE"] ?? "http://127.0.0.1:8000"
    let (body, response) = try await URLSession.shared.data(
      from: URL(string: "\(service)/\(place).json")!)
    guard (response as? HTTPURLResponse)?.statusCode == 200 else {
      throw URLError(.badServerResponse)
    }
    return try JSONDecoder().decode(Forecast.self, from: body)
  }
}
