/// A lake with boats. A new lake needs one record and no code.
public struct Lake: Codable, Hashable, Sendable, Identifiable {
  /// The name in keys, `zuerichsee`.
  public var id: String
  /// The name in the report of the lakes, `Z\u{FC}richsee`.
  public var name: String
  /// The place of its weather and sun times.
  public var place: Coordinates
  /// Its name in the simulations of Alplakes, the second source of its temperature; nil if it is not simulated.
  public var simulation: String?
  /// The numbers of its landings.
  public var stations: [String]

  public init(
    id: String, name: String, place: Coordinates, simulation: String? = nil, stations: [String] = []
  ) {
    self.id = id
    self.name = name
    self.place = place
    self.simulation = simulation
    self.stations = stations
  }
}

extension Lake {
  /// The built-in lakes; a new one is a line here, or a record in a file.
  public static let known: [Lake] = [
    lake("zuerichsee", "Z\u{FC}richsee", 47.366, 8.55, "upperzurich", ["8503651", "8503669"]),
    lake("vierwaldstaettersee", "Vierwaldst\u{E4}ttersee", 47.053, 8.31, "lucernealpnachersee", []),
    lake("thunersee", "Thunersee", 46.688, 7.69, "thun", []),
    lake("brienzersee", "Brienzersee", 46.735, 8.02, "brienz", []),
    lake("zugersee", "Zugersee", 47.17, 8.51, "zug", []),
    lake("walensee", "Walensee", 47.115, 9.22, "walensee", []),
    lake("bielersee", "Bielersee", 47.08, 7.14, "biel", []),
    lake("genfersee", "Genfersee", 46.40, 6.50, "geneva", []),
  ]

  private static func lake(
    _ id: String, _ name: String, _ latitude: Double, _ longitude: Double, _ simulation: String?,
    _ stations: [String]
  ) -> Lake {
    Lake(
      id: id, name: name, place: Coordinates(latitude: latitude, longitude: longitude),
      simulation: simulation, stations: stations)
  }
}
