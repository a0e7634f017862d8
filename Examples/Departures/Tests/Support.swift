import Departures
import ExampleTesting

/// A moment as people in Zurich say it, `2025-07-12T09:00:00+0200`.
func moment(_ text: String) throws -> Timestamp {
  guard let moment = SwissTime.moment(text) else { throw CocoaError(.formatting) }
  return moment
}

func day(_ text: String) throws -> CalendarDay {
  guard let day = CalendarDay(text) else { throw CocoaError(.formatting) }
  return day
}

/// A clock that moves when it is told to. Where it jumps, nobody waits for a pause: it goes on to the end of each, and notes
/// how long that was.
final class JumpingClock: LarderClock {
  private let manual: ManualClock
  let waits = Lines<Duration>()

  private let jumps: Bool

  init(now: Timestamp, jumps: Bool = true) {
    manual = ManualClock(now: now)
    self.jumps = jumps
  }

  var now: Timestamp { manual.now }
  var monotonic: Duration { manual.monotonic }
  func advance(by duration: Duration) { manual.advance(by: duration) }
  func set(to now: Timestamp) { manual.set(to: now) }

  func sleep(until moment: Duration) async throws {
    try Task.checkCancellation()
    // The limit of an exchange is no pause: it is cancelled when the answer is there.
    guard jumps, moment > monotonic, moment - monotonic < .seconds(2) else {
      return try await manual.sleep(until: moment)
    }
    waits.add(moment - monotonic)
    manual.advance(by: moment - monotonic)
  }
}

/// A cache over services of a test, in a store and at a moment of its own.
struct Fixture {
  let clock: JumpingClock
  let store: Store
  let services = FakeServices()
  let cache: DeparturesCache

  /// - Parameter jumps: whether nobody waits for pauses.
  init(
    at text: String = "2025-07-12T08:00:00+0200", jumps: Bool = false, lakes: [Lake] = Lake.known,
    log: (@Sendable (String) -> Void)? = nil
  ) throws {
    let clock = JumpingClock(now: try moment(text), jumps: jumps)
    self.clock = clock
    services.change { $0.now = { clock.now } }
    store = try Store.tested(clock: clock)
    cache = try DeparturesCache(
      store,
      services: Services(
        at: Addresses(all: "https://fake.invalid"), over: services, in: store, weatherKey: "key 7",
        log: log, sleep: { _ in }), lakes: lakes)
  }

  /// Waits for what goes on in the background: until the services were asked so often. Who waits sleeps: tasks that only
  /// yield to each other keep those of lower priority from running.
  func settle(requests: Int) async throws { try await waitUntil { services.count >= requests } }
}

extension Folders {
  static let recordedDepartures =
    hasShared && FileManager.default.fileExists(atPath: shared!.path + "/data/departures")
}
