import HTTPTypes
import Larder
import Service

extension Services {
  /// The number of departures in a request; the service's maximum is 420.
  static let boardLimit = 200
  /// The most requests for one board.
  private static let mostAnswers = 8

  /// The departures of a station on a day, from several requests if necessary; a landing needs one.
  func board(
    of station: String, on day: CalendarDay, limit: Int = boardLimit, fields: HTTPFields
  ) async throws -> Board {
    var builder = try BoardBuilder(day, limit: limit)
    var from: Timestamp? = builder.span.lowerBound
    for _ in 0..<Self.mostAnswers {
      guard let moment = from else { break }
      let time = try SwissTime.clock(moment)
      let path =
        "/stationboard?id=\(station.percentEscaped)&limit=\(limit)&datetime=\("\(day) \(time)".percentEscaped)"
      let body = try await timetable.get(
        BoardBody.self, from: path, fields: fields, fault: \.fault)
      from = try builder.take(body, asked: station)
    }
    guard let board = builder.board else {
      throw Missing(key: "the station \(station)", place: "the timetable")
    }
    return board
  }

  func locations(_ query: String, fields: HTTPFields) async throws -> [Station] {
    try await timetable.get(LocationsBody.self, from: "/locations?" + query, fields: fields)
      .stations.elements.compactMap(\.station)
  }

  func connections(_ query: String, fields: HTTPFields) async throws -> [Connection] {
    try await timetable.get(ConnectionsBody.self, from: "/connections?" + query, fields: fields)
      .connections.elements.compactMap(\.connection)
  }
}

extension RequestPolicy {
  /// The fields of a request under this policy, so that the first level does not answer it.
  var fields: HTTPFields {
    switch self {
    case .standard, .cacheElseLoad, .cacheOnly: [:]
    case .revalidate, .reload: [.cacheControl: "no-cache"]
    }
  }
}
