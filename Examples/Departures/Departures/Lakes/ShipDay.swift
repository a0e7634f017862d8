import Larder
import Service

/// The ship of each course on a day.
public struct ShipDay: Codable, Hashable, Sendable {
  /// By the number of the course without zeros at its beginning.
  public var ships: [String: String]

  /// The service has `1`, a board `000001` and `1`.
  public func ship(of departure: Departure) -> String? {
    ships[Self.course(departure.line)] ?? ships[Self.course(departure.course)]
  }

  static func course(_ number: String) -> String {
    let bare = number.drop { $0 == "0" }
    return bare.isEmpty ? number : String(bare)
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
          route.courseNumber.map { (ShipDay.course($0), route.shipName) }
        }
        return (deployment.date, ShipDay(ships: Dictionary(names) { first, _ in first }))
      }
    ) { first, _ in first }
  }
}
