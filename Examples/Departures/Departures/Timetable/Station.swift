import Service

/// A stop of boats, trains and buses; or an address from a search.
public struct Station: Codable, Hashable, Sendable {
  /// A number as text; nil for an address.
  public var id: String?
  public var name: String
  public var place: Coordinates?
  /// `ship`, `train`, `bus`, ...; only searches have it.
  public var icon: String?
}

extension String {
  /// Without zeros at its beginning: `08503651` and `8503651` are one station, `000001` and `1` one course.
  public var withoutZeros: String {
    let rest = drop { $0 == "0" }
    return rest.isEmpty ? self : String(rest)
  }
}

/// A place on the map, in degrees.
public struct Coordinates: Codable, Hashable, Sendable {
  public var latitude: Double
  public var longitude: Double

  public init(latitude: Double, longitude: Double) {
    (self.latitude, self.longitude) = (latitude, longitude)
  }

  /// Nil for degrees that do not exist.
  public init?(degrees latitude: Double, _ longitude: Double) {
    guard abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
    self.init(latitude: latitude, longitude: longitude)
  }

  /// Throws for degrees that do not exist.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func degrees(_ key: CodingKeys, upTo most: Double) throws -> Double {
      let number = try container.decode(Double.self, forKey: key)
      guard abs(number) <= most else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: container, debugDescription: "\(number) degrees do not exist")
      }
      return number
    }
    latitude = try degrees(.latitude, upTo: 90)
    longitude = try degrees(.longitude, upTo: 180)
  }
}

/// A platform of a station: `3`, `3AB`, `43/44`, `F`.
public struct Platform: Codable, Hashable, Sendable, CustomStringConvertible {
  public var name: String
  /// Whether it differs from the planned one.
  public var isChanged: Bool

  /// Nil for none, which the service sends as "" or null. It marks a changed platform with `!`.
  public init?(_ planned: String?, prognosis: String? = nil) {
    let was = planned.map { Self.bare($0) } ?? ""
    let now = prognosis.map { Self.bare($0) } ?? ""
    guard !(was.isEmpty && now.isEmpty) else { return nil }
    name = now.isEmpty ? was : now
    isChanged =
      planned?.contains("!") == true || prognosis?.contains("!") == true
      || (!now.isEmpty && !was.isEmpty && now != was)
  }

  public var description: String { isChanged ? name + "!" : name }

  private static func bare(_ text: String) -> String {
    String(text.filter { $0 != "!" && !$0.isWhitespace })
  }
}

/// A station of the service: every field may be null.
struct StationBody: Decodable {
  @Lenient var id: String?
  @Lenient var name: String?
  @Lenient var coordinate: CoordinateBody?
  @Lenient var icon: String?

  /// Nil without name and number.
  var station: Station? {
    guard let name = name ?? id else { return nil }
    return Station(id: id, name: name, place: coordinate?.place, icon: icon)
  }
}

struct LocationsBody: Decodable { var stations: LenientList<StationBody> }

/// The service's coordinate: x is the latitude. Both may be null or integers.
struct CoordinateBody: Decodable {
  @Lenient var x: Double?
  @Lenient var y: Double?

  /// Nil for a missing one, and for metres of the old Swiss grid.
  var place: Coordinates? {
    guard let x, let y else { return nil }
    return Coordinates(degrees: x, y)
  }
}
