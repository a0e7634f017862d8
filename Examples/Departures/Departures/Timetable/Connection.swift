public import Larder
import Service

/// A way from one station to another.
public struct Connection: Codable, Hashable, Sendable {
  /// A part of it; on foot without a line.
  public struct Leg: Codable, Hashable, Sendable {
    public var from: Call
    public var to: Call
    public var line: String?
    public var destination: String?
  }

  public var departure: Timestamp
  public var arrival: Timestamp
  public var transfers: Int
  public var legs: [Leg]
}

struct ConnectionsBody: Decodable {
  struct Way: Decodable {
    struct Section: Decodable {
      var journey: JourneyName?
      var departure: StopBody
      var arrival: StopBody
    }
    struct JourneyName: Decodable {
      @Lenient var category: String?
      @Lenient var number: String?
      @Lenient var to: String?
    }
    var from: StopBody
    var to: StopBody
    @Lenient var transfers: Int?
    @Lenient var sections: LenientList<Section>?

    var connection: Connection? {
      guard let departure = from.departureTime, let arrival = to.arrivalTime else { return nil }
      let legs = (sections?.elements ?? []).compactMap { section -> Connection.Leg? in
        guard let from = section.departure.station?.station,
          let to = section.arrival.station?.station
        else { return nil }
        let journey = section.journey
        return Connection.Leg(
          from: section.departure.call(at: from), to: section.arrival.call(at: to),
          line: journey.map { [$0.category, $0.number].compactMap(\.self).joined(separator: " ") },
          destination: journey?.to)
      }
      return Connection(
        departure: departure, arrival: arrival, transfers: transfers ?? 0, legs: legs)
    }
  }

  var connections: LenientList<Way>

  /// Why none of the ways can be shown; nil if some can, or there are none.
  var fault: String? {
    let count = connections.elements.count + connections.skipped.count
    return count > 0 && connections.elements.allSatisfy { $0.connection == nil }
      ? "no way can be read" : nil
  }
}
