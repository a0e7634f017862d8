import Service

/// A stop of boats, trains and buses; or an address from a search.
public struct Station: Codable, Hashable, Sendable {
  /// A number as text; nil for an address.
  public var id: String?
  public var name: String
  public var place: Place?
  /// `ship`, `train`, `bus`, ...; only searches have it.
  public var icon: String?
  /// In metres from the place of the search.
  public var distance: Int?

  public init(
    id: String?, name: String, place: Place? = nil, icon: String? = nil, distance: Int? = nil
  ) {
    self.id = id
    self.name = name
    self.place = place
    self.icon = icon
    self.distance = distance
  }
}

/// A station of the service: every field may be null.
struct StationBody: Decodable {
  @Lenient var id: String?
  @Lenient var name: String?
  var coordinate: CoordinateBody?
  @Lenient var distance: Double?
  @Lenient var icon: String?

  /// Nil without name and number.
  var station: Station? {
    guard let name = name ?? id else { return nil }
    return Station(
      id: id, name: name, place: coordinate?.place, icon: icon,
      distance: distance.flatMap { Int(exactly: $0.rounded()) })
  }
}

struct LocationsBody: Decodable {
  var stations: LenientList<StationBody>
}
