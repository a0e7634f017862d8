public import Larder
import Service

/// The ways from one station to another.
public struct Ways: Codable, Hashable, Sendable {
  /// In the order of the service.
  public var connections: [Connection]
  /// The ways that are left out, and why; nil for none.
  public var skipped: [String]?

  /// `2 left out: connections[0].from is missing; ...`; nil for nothing.
  public var gap: String? { skipped?.leftOut }
}

/// A way from one station to another.
public struct Connection: Codable, Hashable, Sendable {
  /// A part of it; on foot without a line.
  public struct Leg: Codable, Hashable, Sendable {
    public var from: Call
    public var to: Call
    public var line: String?
    public var destination: String?
  }

  /// The planned time.
  public var departure: Timestamp
  /// The planned time.
  public var arrival: Timestamp
  /// With the delay, if it is known.
  public var expectedDeparture: Timestamp?
  public var expectedArrival: Timestamp?
  /// Whether a run or a stop of it is cancelled; nil for no.
  public var isCancelled: Bool?
  public var transfers: Int
  public var legs: [Leg]
  /// The number of its parts that cannot be read; nil for none.
  public var unreadable: Int?

  /// The expected time, or else the planned one.
  public var leaves: Timestamp { expectedDeparture ?? departure }
}

extension [String] {
  /// `7 left out: stationboard[7].stop is missing; ...`
  var leftOut: String { "\(count) left out: " + prefix(3).joined(separator: "; ") }
}

struct ConnectionsBody: Decodable {
  struct Way: Decodable {
    struct Section: Decodable {
      var journey: JourneyName?
      var departure: StopBody
      var arrival: StopBody

      var isCancelled: Bool {
        journey?.cancelled == true || departure.isCancelled || arrival.isCancelled
      }
    }
    struct JourneyName: Decodable {
      @Lenient var category: String?
      @Lenient var number: String?
      @Lenient var to: String?
      @Lenient var cancelled: Bool?
    }
    var from: StopBody
    var to: StopBody
    @Lenient var transfers: Int?
    @Lenient var sections: [Attempt<Section>?]?

    var connection: Connection? {
      guard let departure = from.departureTime, let arrival = to.arrivalTime else { return nil }
      let parts = (sections ?? []).compactMap(\.self).good()
      let legs = parts.compactMap { section -> Connection.Leg? in
        guard let from = section.departure.station?.station,
          let to = section.arrival.station?.station
        else { return nil }
        let journey = section.journey
        return Connection.Leg(
          from: section.departure.call(at: from), to: section.arrival.call(at: to),
          line: journey.map { Departure.name($0.category ?? "", $0.number ?? "").trimmingBlanks },
          destination: journey?.to)
      }
      let isCancelled = from.isCancelled || to.isCancelled || parts.contains(where: \.isCancelled)
      let unreadable = (sections ?? []).count - legs.count
      return Connection(
        departure: departure, arrival: arrival, expectedDeparture: from.expectedDeparture,
        expectedArrival: to.expectedArrival, isCancelled: isCancelled ? true : nil,
        transfers: transfers ?? 0, legs: legs,
        unreadable: unreadable > 0 ? unreadable : nil)
    }
  }

  var connections: LenientList<Way>
  /// Those of the two stations that are null: the service does not know them.
  var unknown: Set<End> = []

  enum End: CodingKey { case from, to }
  private enum CodingKeys: CodingKey { case connections }

  init(from decoder: any Decoder) throws {
    connections = try decoder.container(keyedBy: CodingKeys.self)
      .decode(LenientList<Way>.self, forKey: .connections)
    let ends = try decoder.container(keyedBy: End.self)
    unknown = Set(try ends.allKeys.filter { try ends.decodeNil(forKey: $0) })
  }

  var ways: Ways {
    let all = connections.elements.map(\.connection)
    let skipped =
      connections.skipped + all.filter { $0 == nil }.map { _ in "a way has no times" }
    return Ways(
      connections: all.compactMap(\.self), skipped: skipped.isEmpty ? nil : skipped)
  }

  /// Why none of the ways can be shown; nil if some can, or there are none.
  var fault: String? {
    ways.connections.isEmpty && ways.skipped != nil ? "no way can be read" : nil
  }
}
