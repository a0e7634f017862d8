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
}
