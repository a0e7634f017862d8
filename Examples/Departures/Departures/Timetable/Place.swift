import Service

/// A place on the map, in degrees.
public struct Place: Codable, Hashable, Sendable {
  public var latitude: Double
  public var longitude: Double

  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }

  /// Nil for degrees that do not exist.
  public init?(degrees latitude: Double, _ longitude: Double) {
    guard abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
    self.init(latitude: latitude, longitude: longitude)
  }
}

/// The service's coordinate: x is the latitude. Both may be null or integers.
struct CoordinateBody: Decodable {
  @Lenient var x: Double?
  @Lenient var y: Double?

  /// Nil for a missing one, and for metres of the old Swiss grid.
  var place: Place? {
    guard let x, let y else { return nil }
    return Place(degrees: x, y)
  }
}
