public import Larder
import Service

/// The ship of each course on a day.
public struct ShipDay: Codable, Hashable, Sendable {
  /// By the number of the course without zeros at its beginning.
  public var ships: [String: String]

  /// The operator whose ships the service names, that of Lake Zurich. On other lakes the same numbers are other courses.
  private static let fleet = "ZSG"

  /// The service has `1`, a board `000001` and `1`. Boats of other operators have none, nor have trains and buses.
  public func ship(of departure: Departure) -> String? {
    // Some operators have a second word: `VBZ    F`.
    guard departure.isBoat, departure.operatedBy?.split(separator: " ").first ?? "" == Self.fleet
    else { return nil }
    return ships[departure.course.withoutZeros] ?? ships[departure.line.withoutZeros]
  }
}

struct DeploymentsBody: Decodable {
  struct Deployment: Decodable {
    struct Route: Decodable {
      var shipName: String
      @Lenient var courseNumber: String?
    }
    /// A day in Zurich.
    var date: CalendarDay
    var routes: LenientList<Route>
  }

  var dailyDeployments: LenientList<Deployment>

  /// The days of the answer.
  var days: [CalendarDay: ShipDay] {
    Dictionary(
      dailyDeployments.elements.map { deployment in
        let names = deployment.routes.elements.compactMap { route in
          route.courseNumber.map { ($0.withoutZeros, route.shipName) }
        }
        return (deployment.date, ShipDay(ships: Dictionary(names) { first, _ in first }))
      }
    ) { first, _ in first }
  }
}

/// Ship names for departures that are shown with or without them.
public struct ShipNames: Sendable {
  public var day = ShipDay(ships: [:])
  /// The reason for missing or stale names; nil if no request was to be sent.
  public var error: (any Error)?
}

extension DeparturesCache {
  /// The ships of a day. The service's answer has several days; all of them are stored.
  ///
  /// Throws ``NoAddress`` if nothing is stored and the service has no address.
  public func ships(
    on day: CalendarDay? = nil, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<ShipDay> {
    try await ships(on: day ?? today, LoadOptions(policy: policy))
  }

  func ships(on day: CalendarDay, _ options: LoadOptions) async throws -> CacheResult<ShipDay> {
    try await value("\(day)", in: ships, options) {
      let days = try await services.ships()
      _ = try ifRoom {
        try store.write { batch in
          for (other, ships) in days where other != day {
            try batch.set(ships, for: "\(other)", in: self.ships)
          }
        }
      }
      return .value(days[day] ?? ShipDay(ships: [:]))
    }
  }

  /// The same without errors: no names if they are not available.
  public func shipNames(
    on day: CalendarDay? = nil, policy: RequestPolicy = .standard
  ) async throws(CancellationError) -> ShipNames {
    do {
      let ships = try await ships(on: day, policy: policy)
      return ShipNames(day: ships.value, error: ships.error is NoAddress ? nil : ships.error)
    } catch let error as CancellationError where Task.isCancelled {
      throw error
    } catch {
      let wasAsked = !(error is NoAddress) && (error as? LarderError)?.code != .notStored
      return ShipNames(error: wasAsked ? error : nil)
    }
  }
}
