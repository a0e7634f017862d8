import Foundation
public import Larder

/// Sunrise and sunset of a day, computed to a minute or two.
public struct SunTimes: Codable, Hashable, Sendable {
  /// Nil beyond the polar circles in some seasons.
  public var rise: Timestamp?
  public var set: Timestamp?

  /// After the sunrise equation, with the refraction of a usual atmosphere.
  public init(on day: CalendarDay, at place: Coordinates) {
    let epoch = Timestamp(milliseconds: 946_728_000_000)  // J2000: 2000-01-01 12:00 UTC
    let noon = day.startInUTC.advanced(by: .hours(12))
    let days = (epoch.duration(to: noon) / .seconds(1) / 86_400).rounded() + 0.0008
    let solar = days - place.longitude / 360
    let anomaly = 357.5291 + 0.985_600_28 * solar
    let center =
      1.9148 * Self.sine(anomaly) + 0.02 * Self.sine(2 * anomaly) + 0.0003 * Self.sine(3 * anomaly)
    let ecliptic = anomaly + center + 180 + 102.9372
    let transit = solar + 0.0053 * Self.sine(anomaly) - 0.0069 * Self.sine(2 * ecliptic)
    let declination = asin(Self.sine(ecliptic) * Self.sine(23.4397))
    let latitude = place.latitude * .pi / 180
    let cosine =
      (Self.sine(-0.833) - sin(latitude) * sin(declination)) / (cos(latitude) * cos(declination))
    // An impossible place has none either.
    guard abs(cosine) <= 1, abs(place.longitude) <= 180 else { return }
    let half = acos(cosine) / (2 * .pi)
    rise = epoch.advanced(by: .seconds((transit - half) * 86_400))
    set = epoch.advanced(by: .seconds((transit + half) * 86_400))
  }

  private static func sine(_ degrees: Double) -> Double { sin(degrees * .pi / 180) }
}
