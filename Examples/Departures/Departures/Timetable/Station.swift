/// Where boats, trains and buses stop; an address where a search finds one.
public struct Station: Codable, Hashable, Sendable {
  /// A number as text; nil for an address.
  public var id: String?
  public var name: String
  public var place: Place?
  /// `ship`, `train`, `bus`, ...; searches alone say it.
  public var icon: String?
  /// In metres from where was searched.
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

/// A station as the service says it: anything may be null, the name too.
struct StationBody: Decodable {
  var id: String?
  var name: String?
  var coordinate: CoordinateBody?
  var distance: Double?
  var icon: String?

  /// Nil where neither name nor number is said.
  var station: Station? {
    guard let name = name ?? id else { return nil }
    return Station(
      id: id, name: name, place: coordinate?.place, icon: icon, distance: distance.map { Int($0) })
  }
}

struct LocationsBody: Decodable {
  var stations: [StationBody]
}
