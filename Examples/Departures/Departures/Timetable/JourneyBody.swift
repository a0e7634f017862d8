import Larder
import Service

/// A run of the service.
struct JourneyBody: Decodable {
  var stop: StopBody
  @Lenient var name: String?
  @Lenient var category: String?
  @Lenient var number: String?
  @Lenient var `operator`: String?
  @Lenient var to: String?
  @Lenient var cancelled: Bool?
  @Lenient var passList: LenientList<StopBody>?

  /// Nil for a run that ends here, or has no times.
  func departure(from station: Station, names: [String: String]) -> Departure? {
    guard let time = stop.departureTime else { return nil }
    return Departure(
      time: time, expected: stop.expected(stop.prognosis?.departure, instead: time),
      delay: stop.minutesLate, isCancelled: stop.isCancelled || cancelled == true ? true : nil,
      platform: stop.tracks,
      category: category ?? "", course: name ?? "",
      line: number ?? name ?? "", operatedBy: `operator`, destination: to ?? "",
      calls: calls(from: station, names: names))
  }

  private func calls(from station: Station, names: [String: String]) -> [Call] {
    (passList?.elements ?? []).enumerated().compactMap { place, stop in
      // Without times it is a name of the route and no stop: "Gotthard-Panoramastrecke".
      if stop.isTimeless { return nil }
      if place == 0 { return first(stop, at: station) }
      guard var said = stop.station?.station else { return nil }
      if stop.station?.name == nil, let id = said.id, let name = names[id] { said.name = name }
      return stop.call(at: said)
    }
  }

  /// The first stop of a pass list is the station itself, but has the number of the last one and no name. In bodies of
  /// 2015 it has both, and its departure is in the arrival field.
  private func first(_ stop: StopBody, at station: Station) -> Call {
    let named = stop.station?.name == nil ? nil : stop.station?.station
    var call = stop.call(at: named ?? station)
    call.departure = call.departure ?? self.stop.departureTime
    return call
  }

  /// The names of stations in the body, some of which are missing elsewhere in it.
  var names: [(String, String)] {
    (passList?.elements ?? []).dropFirst().compactMap { stop in
      guard let id = stop.station?.id, let name = stop.station?.name else { return nil }
      return (id, name)
    }
  }
}

struct StopBody: Decodable {
  struct Prognosis: Decodable {
    @Lenient var platform: String?
    @Lenient var departure: String?
  }

  @Lenient var station: StationBody?
  @Lenient var arrival: String?
  @Lenient var arrivalTimestamp: Int64?
  @Lenient var departure: String?
  @Lenient var departureTimestamp: Int64?
  /// A number, text such as `+3`, or `X` for a cancelled run.
  @Lenient var delay: String?
  @Lenient var cancelled: Bool?
  @Lenient var platform: String?
  @Lenient var prognosis: Prognosis?

  /// Nil for nonsense: the service knows no delay of more than a day.
  var minutesLate: Int? {
    delay.flatMap { Int($0) }.flatMap { (-1440...1440).contains($0) ? $0 : nil }
  }
  var isCancelled: Bool { cancelled == true || delay?.uppercased() == "X" }
  var arrivalTime: Timestamp? { Self.moment(arrivalTimestamp, arrival) }
  var departureTime: Timestamp? { Self.moment(departureTimestamp, departure) }
  var isTimeless: Bool { arrivalTime == nil && departureTime == nil }
  var tracks: Platform? { Platform(platform, prognosis: prognosis?.platform) }

  func call(at station: Station) -> Call {
    Call(station: station, arrival: arrivalTime, departure: departureTime, platform: tracks)
  }

  /// Nil for nonsense, more than a day from the planned time: some services write year 1 for none.
  func expected(_ text: String?, instead planned: Timestamp) -> Timestamp? {
    text.flatMap { SwissTime.moment($0) }.flatMap {
      abs(planned.duration(to: $0) / .days(1)) <= 1 ? $0 : nil
    }
  }

  private static func moment(_ seconds: Int64?, _ text: String?) -> Timestamp? {
    seconds.flatMap { Timestamp(second: $0) } ?? text.flatMap { SwissTime.moment($0) }
  }
}

extension Timestamp {
  /// A second of a service since 1970; nil for 0, which stands for none, and outside the years 1970 to 9999.
  init?(second: Int64) {
    guard (1...253_402_300_799).contains(second) else { return nil }
    self.init(milliseconds: second * 1000)
  }
}
