import Foundation
public import Larder

/// A lake with boats. To add a lake, add a record to `known`; no other code changes.
public struct Lake: Codable, Hashable, Sendable {
  /// The name in keys of the store, and the name in the report of the lakes.
  public var id, name: String
  /// The place in degrees for which weather and sun times are given.
  public var latitude, longitude: Double
  /// The name in the simulations of Alplakes, which are the second source of the temperature. Nil if there is no simulation.
  public var simulation: String?

  private init(
    _ id: String, _ name: String, _ latitude: Double, _ longitude: Double, _ simulation: String
  ) {
    (self.id, self.name, self.simulation) = (id, name, simulation)
    (self.latitude, self.longitude) = (latitude, longitude)
  }

  public static let known = [
    Lake("zuerichsee", "Z\u{FC}richsee", 47.366, 8.55, "upperzurich"),
    Lake("vierwaldstaettersee", "Vierwaldst\u{E4}ttersee", 47.053, 8.31, "lucernealpnachersee"),
    Lake("thunersee", "Thunersee", 46.688, 7.69, "thun"),
    Lake("brienzersee", "Brienzersee", 46.735, 8.02, "brienz"),
    Lake("zugersee", "Zugersee", 47.17, 8.51, "zug"),
    Lake("walensee", "Walensee", 47.115, 9.22, "walensee"),
    Lake("bielersee", "Bielersee", 47.08, 7.14, "biel"),
    Lake("genfersee", "Genfersee", 46.4, 6.5, "geneva"),
    Lake("neuenburgersee", "Neuenburgersee", 46.99, 6.93, "neuchatel"),
    Lake("murtensee", "Murtensee", 46.93, 7.12, "murten"),
    Lake("lagomaggiore", "Lago Maggiore", 46.17, 8.8, "maggiore"),
    Lake("luganersee", "Luganersee", 46.0, 8.95, "upperlugano"),
    Lake("bodensee", "Bodensee", 47.57, 9.38, "upperconstance"),
    Lake("hallwilersee", "Hallwilersee", 47.28, 8.22, "hallwil"),
    Lake("aegerisee", "\u{C4}gerisee", 47.13, 8.59, "aegeri"),
  ]
}

/// Sunrise and sunset of a day. The error is at most about two minutes. A day without sunrise has 0 or 24 hours of sun.
public struct SunTimes: Codable, Hashable, Sendable {
  public var rise, set: Timestamp

  /// Uses the sunrise equation with the usual refraction of the atmosphere.
  public init(on day: CalendarDay, latitude: Double, longitude: Double) {
    func sine(_ degrees: Double) -> Double { sin(degrees * .pi / 180) }
    let epoch = Timestamp(milliseconds: 946_728_000_000)  // J2000: 2000-01-01 12:00 UTC
    let noon = epoch.duration(to: day.start.advanced(by: .hours(13))) / .days(1)
    let solar = noon.rounded() + 0.0008 - longitude / 360
    let anomaly = 357.5291 + 0.985_600_28 * solar
    let center = 1.9148 * sine(anomaly) + 0.02 * sine(2 * anomaly) + 0.0003 * sine(3 * anomaly)
    let ecliptic = anomaly + center + 180 + 102.9372
    let transit = solar + 0.0053 * sine(anomaly) - 0.0069 * sine(2 * ecliptic)
    let (north, tilt) = (latitude * .pi / 180, asin(sine(ecliptic) * sine(23.4397)))
    let cosine = (sine(-0.833) - sin(north) * sin(tilt)) / (cos(north) * cos(tilt))
    let half = acos(min(max(cosine, -1), 1)) / (2 * .pi)
    rise = epoch.advanced(by: .seconds((transit - half) * 86_400))
    set = epoch.advanced(by: .seconds((transit + half) * 86_400))
  }
}
