import ArgumentParser
import Departures
import ExampleProgram
import Larder

struct FindStations: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Stations by name, or near a place.")

  @Argument(help: "How the name begins.")
  var name: String?

  @Option(help: "Latitude and longitude, 47.366,8.541.")
  var near: String?

  @Flag(help: "Print JSON.")
  var json = false

  @OptionGroup var session: Session

  func validate() throws {
    guard (name == nil) != (near == nil) else {
      throw ValidationError("say a name, or --near LATITUDE,LONGITUDE")
    }
  }

  func run() async throws {
    let store = try session.opened()
    let cache = try session.cache(in: store)
    let found: CacheResult<[Station]>
    if let near {
      let degrees = near.split(separator: ",").compactMap { Double($0) }
      guard degrees.count == 2 else { throw ValidationError("\"\(near)\" is no place") }
      found = try await cache.stations(near: .init(latitude: degrees[0], longitude: degrees[1]))
    } else {
      found = try await cache.stations(named: name ?? "")
    }
    if json {
      print(try JSONOutput.text(Answer(found, found.value)))
    } else {
      for station in found.value {
        print(
          (station.id ?? "-").padded(to: 9) + station.name
            + (station.icon.map { "  (\($0))" } ?? ""))
      }
      session.close(.locations)
    }
    try store.close()
  }
}

struct FindWay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "way", abstract: "Ways from one station to another, from now on.")

  @Argument var from: String
  @Argument var to: String

  @Flag(help: "Print JSON.")
  var json = false

  @OptionGroup var session: Session

  func run() async throws {
    let store = try session.opened()
    let ways = try await session.cache(in: store).connections(from: from, to: to)
    if json {
      print(try JSONOutput.text(Answer(ways, ways.value)))
    } else {
      for way in ways.value {
        let span = "\(try SwissTime.clock(way.departure)) - \(try SwissTime.clock(way.arrival))"
        print(span + "  " + way.legs.map { $0.line ?? "on foot" }.joined(separator: ", "))
      }
      session.close(.connections)
    }
    try store.close()
  }
}
