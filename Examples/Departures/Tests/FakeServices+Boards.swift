import ExampleTesting

/// Boards in the shape of the timetable's.
extension FakeServices {
  func board(_ parameters: [String: String], _ state: State) -> LocalServer.Answer {
    let id = parameters["id"] ?? ""
    guard let limit = Int(parameters["limit"] ?? ""), limit <= 420 else {
      return .init(400, ["Content-Type": "text/html"], text: "Invalid value for Parameter `limit`.")
    }
    guard !state.unknown.contains(id), let from = Self.moment(parameters["datetime"] ?? "") else {
      return .init(200, state.fields, json: ["station": NSNull(), "stationboard": [Any]()])
    }
    var journeys: [[String: Any]] = []
    var day = Self.zurich.startOfDay(for: from)
    while journeys.count < limit, !state.empty.contains(id), day < from.addingTimeInterval(100_000)
    {
      for text in state.times {
        guard let time = Self.time(text, on: day), time >= from, journeys.count < limit else {
          continue
        }
        // Those that leave together come together, be there more than the limit.
        for number in 0..<state.atOnce {
          journeys.append(journey(from: id, at: time, number: number, state))
        }
      }
      guard let next = Self.zurich.date(byAdding: .day, value: 1, to: day) else { break }
      day = next
    }
    return .init(
      200, state.fields,
      json: ["station": Self.station(id, "Landing \(id) (See)"), "stationboard": journeys])
  }

  /// A time of day; the calendar's own search takes milliseconds, and is needed on the days of a change alone.
  private static func time(_ text: String, on day: Date) -> Date? {
    let parts = text.split(separator: ":").compactMap { Int($0) }
    let next = day.addingTimeInterval(86_400)
    if zurich.startOfDay(for: next) == next {
      return day.addingTimeInterval(Double(parts[0] * 3600 + parts[1] * 60))
    }
    return zurich.date(
      bySettingHour: parts[0], minute: parts[1], second: 0, of: day, matchingPolicy: .nextTime,
      repeatedTimePolicy: .first)
  }

  private func journey(from id: String, at time: Date, number: Int, _ state: State) -> [String: Any]
  {
    let course = Self.zurich.component(.hour, from: time) * 10 + number
    var first = Self.stop(Self.station("8503671", nil), departure: time)
    first["delay"] = state.delay(at: id, of: time).map { $0 as Any } ?? NSNull()
    // The clock of the server, so that no two answers are the same.
    first["prognosis"] = [
      "platform": NSNull(), "departure": NSNull(),
      "arrival": Self.text(Date(timeIntervalSince1970: 1_752_300_000 + Double(state.asked.count))),
    ]
    let last = Self.stop(
      Self.station("8503671", "Halbinsel Au (See)"), arrival: time.addingTimeInterval(3600))
    var own = first
    own["station"] = Self.station(id, "Landing \(id) (See)")
    return [
      "stop": own, "name": String(format: "%06d", course), "category": "BAT",
      "number": String(course), "operator": "ZSG", "to": "Halbinsel Au (See)",
      "passList": [first, last], "subcategory": NSNull(),
    ]
  }

  static func stop(_ station: [String: Any], arrival: Date? = nil, departure: Date? = nil)
    -> [String: Any]
  {
    [
      "station": station, "location": Self.station("8503671", nil), "delay": NSNull(),
      "platform": NSNull(), "arrival": arrival.map { text($0) } ?? NSNull(),
      "arrivalTimestamp": arrival.map { Int($0.timeIntervalSince1970) } ?? NSNull(),
      "departure": departure.map { text($0) } ?? NSNull(),
      "departureTimestamp": departure.map { Int($0.timeIntervalSince1970) } ?? NSNull(),
    ]
  }

  static func station(_ id: String, _ name: String?) -> [String: Any] {
    [
      "id": id, "name": name ?? NSNull(), "score": NSNull(), "distance": NSNull(),
      "coordinate": ["type": "WGS84", "x": name == nil ? NSNull() : 47 as Any, "y": 8.5],
    ]
  }

  private static let style = Date.ISO8601FormatStyle(timeZone: zurich.timeZone)

  /// `2025-07-12T09:00:00+0200`
  static func text(_ date: Date) -> String { date.formatted(style) }

  /// `2025-07-12 00:00`
  private static func moment(_ text: String) -> Date? {
    let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: zurich.timeZone)
    let form = style.year().month().day().time(includingFractionalSeconds: false)
    return try? form.parse(text + ":00")
  }
}
