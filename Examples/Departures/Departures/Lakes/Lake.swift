import Service

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

extension Lake {
  /// Leaves out landings that are not numbers, as text or not.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    id = try fields.decode(String.self, forKey: .id)
    name = try fields.decode(String.self, forKey: .name)
    place = try fields.decode(Coordinates.self, forKey: .place)
    simulation = try fields.decodeIfPresent(String.self, forKey: .simulation)
    let landings = try fields.decode([JSON].self, forKey: .stations)
    stations = landings.compactMap(\.word).filter { number in
      !number.isEmpty && number.utf8.allSatisfy { (48...57).contains($0) }
    }
  }
}

/// A record of a lake, with the number of the landings that were left out.
public struct LakeRecord: Decodable, Sendable {
  public let lake: Lake
  public let unreadable: Int

  private enum CodingKeys: CodingKey { case stations }

  public init(from decoder: any Decoder) throws {
    lake = try Lake(from: decoder)
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    unreadable = try fields.decode([JSON].self, forKey: .stations).count - lake.stations.count
  }
}
