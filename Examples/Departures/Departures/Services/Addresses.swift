/// Where the services are.
public struct Addresses: Sendable {
  /// The timetable: transport.opendata.ch, version 1.
  public var timetable = "https://transport.opendata.ch/v1"
  public var weather = "https://api.openweathermap.org/data/2.5"
  /// Ship names, and the report of the lakes. Nil, and nobody is asked: no public one is known.
  public var boats: String?
  /// The second source of temperatures.
  public var simulations = "https://alplakes-api.eawag.ch"
  public var tiles = "https://tile.openstreetmap.org"

  public init() {}

  /// All of them at one place, as a test or a recording has them.
  public init(all base: String) {
    timetable = base + "/v1"
    weather = base + "/weather"
    boats = base + "/boats"
    simulations = base + "/simulations"
    tiles = base + "/tiles"
  }
}
