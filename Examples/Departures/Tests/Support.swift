import Departures
import ExampleTesting

/// The moment of a text such as `2025-07-12T09:00:00+0200`.
func moment(_ text: String) throws -> Timestamp { try #require(SwissTime.moment(text)) }

func day(_ text: String) throws -> CalendarDay { try CalendarDay(of: moment(text + "T12:00:00Z")) }

/// A manual clock. In a sleep of less than two seconds, the clock itself moves to the end of the sleep, and records the length.
struct JumpingClock: LarderClock {
  let manual: ManualClock
  let waits: Lines<Duration>
  var now: Timestamp { manual.now }
  var monotonic: Duration { manual.monotonic }

  func sleep(until moment: Duration) async throws {
    try Task.checkCancellation()
    // A longer sleep is the time limit of a request. The answer ends this sleep, so the clock must not jump to the limit.
    guard moment > monotonic, moment - monotonic < .seconds(2) else {
      return try await manual.sleep(until: moment)
    }
    waits.add(moment - monotonic)
    manual.advance(by: moment - monotonic)
  }
}

/// A cache over test services, with its own store and clock.
struct Fixture {
  let clock: ManualClock
  let waits = Lines<Duration>()
  let services = FakeServices()
  var cache: DeparturesCache

  init(
    at text: String = "2025-07-12T08:00:00+0200", log: (@Sendable (String) -> Void)? = nil
  ) throws {
    clock = ManualClock(now: try moment(text))
    let store = try Store.tested(clock: JumpingClock(manual: clock, waits: waits))
    cache = try DeparturesCache(
      in: store, base: "https://fake.invalid", over: services, weatherKey: "key 7", log: log)
  }

  func namespace(_ namespace: BoatNamespace) -> Store.Namespace {
    cache.cache(of: JSON.self, in: namespace).namespace
  }

  func under(_ policy: RequestPolicy) -> DeparturesCache {
    with(cache) { $0.policy = policy }
  }
}
