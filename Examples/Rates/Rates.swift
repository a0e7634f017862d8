import Larder
import LarderHTTP
import LarderURLSession
import Service

/// What the service tells of a day: `GET /2026-01-05`.
struct Rates: Codable, Sendable {
  var base: String
  var rates: [String: Double]
}

/// The adapter: a service, a cache over a namespace, and the rules of what is in it.
struct RateBook: Sendable {
  let service: Service
  let days: Cache<Rates>

  init(_ store: Store, base: String, over transport: any HTTPTransport = URLSessionTransport()) {
    service = Service(at: base, over: transport)
    days = store.cache(
      of: Rates.self, in: "rates.days",
      rules: Rules(
        expires: .daily(at: 16, 0, in: "Europe/Berlin"),  // when new ones come out
        stale: .days(30),  // how long yesterday's are kept for when the service is gone
        limits: Limits(entries: 400)))
  }

  /// One request however many ask, and none while it is fresh.
  func rates(on day: String) async throws -> CacheResult<Rates> {
    try await days.result(for: day, stale: .onError(.days(30))) { try await fetch(day) }
  }

  /// Two at a time, before anybody asks.
  func prefetch(_ wanted: [String]) throws -> Prefetch<String> {
    try days.prefetch(wanted, concurrency: 2) { try await fetch($0) }
  }

  private func fetch(_ day: String) async throws -> Rates {
    try await service.get(Rates.self, from: "/" + day)
  }
}

@main struct Program {
  /// `larder-rates STORE SERVICE DAY...`
  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count > 3 else { return print("larder-rates STORE SERVICE DAY...") }
    let store = try Store(at: words[1])
    let book = RateBook(store, base: words[2])
    let days = Array(words[3...])
    for await step in try book.prefetch(days) { print("\(step.done) of \(step.total)") }
    for day in days {
      let found = try await book.rates(on: day)
      print(day, found.value.rates["CHF"] ?? 0, found.source)
    }
    try store.close()
    print("larder \(words[1]) -e 'keys @rates.days --long'")
  }
}
