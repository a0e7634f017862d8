import HTTPTypes
public import Larder
public import LarderHTTP
public import Service

/// The services behind one HTTP cache, the first level. The second level stores decoded values.
public struct Services: Sendable {
  public let timetable: Service
  public let weather: Service
  /// Nil without an address.
  public let boats: Service?
  public let simulations: Service
  public let tiles: Service
  /// The credential of the weather service; keys of the store have a digest of it.
  let weatherKey: String
  /// Where decoded values are stored. The keys of `boat.http` have the addresses.
  public let realm: Realm
  private let boatsRealm: Realm
  /// Called for every lookup and request: `boards 8503651_2025-07-12: memory, 12 s old`.
  let log: (@Sendable (String) -> Void)?

  /// - Parameter sleep: waits when a service asks for it; tests pass one that returns at once.
  public init(
    at addresses: Addresses = Addresses(), over transport: any HTTPTransport, in store: Store,
    weatherKey: String = "", log: (@Sendable (String) -> Void)? = nil,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    var policy = HTTPCachePolicy()
    policy.timeout = .seconds(15)
    // The second level serves stale values, and reports them.
    policy.whenDisconnected = .zero
    policy.secretParameters.insert("appid")
    let cache = HTTPCache(
      in: store.namespace(BoatNamespace.http.name), over: CheckedTransport(transport),
      policy: policy)
    func service(_ base: String) -> Service {
      var service = Service(at: base, over: cache)
      service.message = { Self.words(of: $0) }
      service.sleep = sleep
      service.log = log
      // The second level decides what is fresh, and says how old it is. So the first one only spares bodies that have not changed.
      service.fields[.cacheControl] = "no-cache"
      return service
    }
    timetable = service(addresses.timetable)
    weather = service(addresses.weather)
    boats = addresses.boats.map(service)
    simulations = service(addresses.simulations)
    // The second level stores tiles without end; a second copy is not needed.
    var tiles = Service(at: addresses.tiles, over: transport)
    tiles.sleep = sleep
    tiles.log = log
    (self.tiles, self.weatherKey, self.log) = (tiles, weatherKey, log)
    realm = addresses.realm
    boatsRealm = addresses.boatsRealm ?? addresses.realm
  }

  /// The realm of a namespace. Temperatures come from either source, so those of two reports are apart too; the next departures have
  /// names of ships.
  public func realm(of namespace: BoatNamespace) -> Realm {
    switch namespace {
    case .ships, .temperatures, .levels, .next: boatsRealm
    default: realm
    }
  }

  /// Errors come as `{"errors": [{"message": ...}]}`, or as `{"message": ...}` for the weather.
  static func words(of error: JSON) -> String? {
    var lines = [error["message"]]
    if case .array(let errors)? = error["errors"] { lines = errors.map { $0["message"] } + lines }
    let words = lines.compactMap { $0?.text?.trimmingBlanks }
    return words.isEmpty ? nil : words.joined(separator: "; ")
  }
}

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

  /// A recording has a realm of its own, so that it never replaces what the user has.
  public var realm = Realm.open
  /// The realm of what may come from `boats`; nil for the same one.
  public var boatsRealm: Realm?

  public init() {}

  /// All at one address, for a test or a recording.
  public init(all base: String) {
    let base = Service.base(base)
    timetable = base + "/v1"
    weather = base + "/weather"
    boats = base + "/boats"
    simulations = base + "/simulations"
    tiles = base + "/tiles"
  }
}

/// The service does not have it.
public struct NotFound: Error, Hashable, CustomStringConvertible {
  public var key: String
  public var place: String
  public var description: String { "\(key) is not in \(place)" }
}

/// A service without an address.
public struct NoAddress: Error, Hashable, CustomStringConvertible {
  public var service: String
  public var description: String { "there is no address for \(service)" }
}
