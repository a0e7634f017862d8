import Departures

/// A board whose departures have the names of their ships, for JSON.
struct BoardWithShips: Encodable {
  private struct Run: Encodable {
    var departure: Departure
    var ship: String?
    enum CodingKeys: CodingKey { case ship }

    func encode(to encoder: any Encoder) throws {
      try departure.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encodeIfPresent(ship, forKey: .ship)
    }
  }
  var board: Board
  /// One for each departure.
  var ships: [String?]
  enum CodingKeys: CodingKey { case departures }

  func encode(to encoder: any Encoder) throws {
    try board.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(
      zip(board.departures, ships).map { Run(departure: $0, ship: $1) }, forKey: .departures)
  }
}
