import Departures
import ExampleTesting
import Foundation
import Larder
import LarderHTTP
import LarderURLSession
import Synchronization

/// A moment as people in Zurich say it, `2025-07-12T09:00:00+0200`.
func moment(_ text: String) throws -> Timestamp {
  guard let moment = SwissTime.moment(text) else { throw CocoaError(.formatting) }
  return moment
}

func day(_ text: String) throws -> CalendarDay {
  guard let day = CalendarDay(text) else { throw CocoaError(.formatting) }
  return day
}

/// A cache over services of a test, in a store and at a moment of its own.
struct Bench {
  let clock: ManualClock
  let store: Store
  let services = FakeServices()
  let cache: DeparturesCache

  init(
    at text: String = "2025-07-12T08:00:00+0200", lakes: [Lake] = Lake.known,
    log: (@Sendable (String) -> Void)? = nil
  ) throws {
    clock = ManualClock(now: try moment(text))
    store = try Store.temporary(clock: clock)
    cache = try DeparturesCache(
      store,
      services: Services(
        at: Addresses(all: "https://fake.invalid"), over: services, in: store, weatherKey: "key 7",
        sleep: { _ in }), lakes: lakes, log: log)
  }

  /// Lets what goes on in the background come to its end: until the services were asked so often.
  func settle(requests: Int) async {
    while services.count < requests { await Task.yield() }
  }
}

/// A list that grows from several tasks.
final class Lines<Line: Sendable>: Sendable {
  private let lines = Mutex<[Line]>([])
  var all: [Line] { lines.withLock { $0 } }
  func add(_ line: Line) { lines.withLock { $0.append(line) } }
}

extension Folders {
  static let recordedDepartures =
    hasShared
    && FileManager.default.fileExists(atPath: shared!.path + "/data/departures")
}
