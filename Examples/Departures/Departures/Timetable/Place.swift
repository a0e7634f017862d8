/// A place on the map, in degrees.
public struct Place: Codable, Hashable, Sendable {
  public var latitude: Double
  public var longitude: Double

  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }
}

/// The service's coordinate, in which x is the latitude. Either may be null, and either may be an integer.
struct CoordinateBody: Decodable {
  var x: Double?
  var y: Double?

  /// Nil where there is none, and for the metres of the old Swiss grid.
  var place: Place? {
    guard let x, let y, abs(x) <= 90, abs(y) <= 180 else { return nil }
    return Place(latitude: x, longitude: y)
  }
}
