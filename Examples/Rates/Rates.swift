import ArgumentParser
import ExampleProgram
import Larder
import LarderHTTP
import Service

/// The service's answer for a day: `GET /2026-01-05`.
struct Rates: Codable, Sendable {
  var base: String
  var rates: [String: Double]
}

/// The adapter: a service, and a cache over a namespace with its rules.
struct RateBook: Sendable {
  let service: Service
  let days: Cache<Rates>

  init(_ store: Store, base: String, over transport: any HTTPTransport = networkTransport()) {
    service = Service(at: base, over: transport, in: store)
    days = store.cache(
      of: Rates.self, in: "rates.days",
      rules: Rules(
        expires: .daily(at: TimeOfDay(16), in: "Europe/Berlin"),  // when new rates are published
        stale: .days(30),  // returned if the service cannot be reached
        limits: Limits(entries: 400)))
  }

  /// Concurrent calls share one request. A fresh stored value needs no request.
  func rates(on day: String) async throws -> CacheResult<Rates> {
    // The program ends immediately after the loads, so each load waits for its commit.
    let options = LoadOptions(stale: Staleness(onError: .days(30)), waitsForCommit: true)
    return try await days.result(for: day, options: options) { try await fetch(day) }
  }

  /// Fetches the rates of several days in advance, two days at a time.
  func prefetch(_ wanted: [String]) throws -> Prefetch<String> {
    try days.prefetch(wanted, concurrency: 2) { day, _ in .value(try await fetch(day)) }
  }

  private func fetch(_ day: String) async throws -> Rates {
    try await service.get(Rates.self, from: "/" + day)
  }
}

@main struct Program: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "larder-rates")
  @Argument var store: String
  @Argument var service: String
  @Argument var days: [String]
  /// If the service, the store or the output fails, the program ends with an exit code.
  static func main() async { await Failure.run(Self.self, credential: nil) }

  func run() async throws {
    let opened = try Store(at: store)
    let book = RateBook(opened, base: service)
    for await step in try book.prefetch(days) { try Output.write("\(step.done) of \(step.total)") }
    for day in days {
      let found = try await book.rates(on: day)
      try Output.write("\(day) \(found.value.rates["CHF"] ?? 0) \(found.source)")
    }
    try opened.close()
    try Output.write("larder \(store) -e 'keys @rates.days --long'")
  }
}
