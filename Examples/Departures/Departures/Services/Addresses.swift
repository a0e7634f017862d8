/// The addresses of the services.
public struct Addresses: Sendable {
  /// The timetable: transport.opendata.ch, version 1.
  public var timetable = "https://transport.opendata.ch/v1"
  public var weather = "https://api.openweathermap.org/data/2.5"
  /// Ship names and the report of the lakes; nil by default, because there is no public one.
  public var boats: String?
  /// The second source of temperatures.
  public var simulations = "https://alplakes-api.eawag.ch"
  public var tiles = "https://tile.openstreetmap.org"

  public init() {}

  /// All at one address, for a test or a recording.
  public init(all base: String) {
    timetable = base + "/v1"
    weather = base + "/weather"
    boats = base + "/boats"
    simulations = base + "/simulations"
    tiles = base + "/tiles"
  }
}
