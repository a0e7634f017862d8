import HTTPTypes
public import Larder
public import LarderHTTP
import Service

/// The services, through one HTTP cache: the first level of caching. The second level, `DeparturesCache`, stores decoded values.
public struct BoatServices: Sendable {
  let timetable, weather, simulations, tiles: Service
  /// The service with the names of ships and the report of the lakes. It has no public address, so it is nil if none is given.
  let boats: Service?
  let weatherKey: String
  /// A realm for the data of services at another `base`, so that they do not mix with the usual data; otherwise nil.
  let realm: Realm?

  /// - Parameters:
  ///   - base: One address for all services, for a test or a recording.
  ///   - weatherKey: The credential of the weather service. Keys in the store contain only its digest.
  ///   - log: Called for every lookup and request, with a line such as `boat.boards 8503651_2025-07-12: memory, 12 s old`.
  public init(
    base: String? = nil, boats: String? = nil, over transport: any HTTPTransport, in store: Store,
    weatherKey: String, log: (@Sendable (String) -> Void)? = nil
  ) {
    // The second level decides when stale values are served, so this cache never serves them without a network.
    var policy = HTTPCachePolicy(
      whenDisconnected: .zero,
      rules: [
        HTTPCacheRule("*/tiles/*"), HTTPCacheRule("tile.*"),
        HTTPCacheRule("*", expectedTypes: ["application/json"]),
      ])
    policy.secretParameters.insert("appid")
    let cache = HTTPCache(
      in: store.namespace(BoatNamespace.http.name), over: transport, policy: policy)
    // The second level decides what is fresh. The first level only avoids transfers of unchanged bodies. It does not store tiles.
    func service(_ address: String, _ control: String = "no-cache") -> Service {
      var service = Service(at: address, over: cache)
      service.message = { error in
        // An error is `{"errors": [{"message": ...}]}`, or `{"message": ...}` from the weather service.
        guard case .array(let errors)? = error["errors"] else { return error["message"]?.text }
        return errors.compactMap { $0["message"]?.text?.trimmingBlanks }.joined(separator: "; ")
      }
      service.log = log
      service.fields[.cacheControl] = control
      return service
    }
    func address(_ path: String) -> String? { base.map { Service.base($0) + path } }
    timetable = service(address("/v1") ?? "https://transport.opendata.ch/v1")
    weather = service(address("/weather") ?? "https://api.openweathermap.org/data/2.5")
    simulations = service(address("/simulations") ?? "https://alplakes-api.eawag.ch")
    tiles = service(address("/tiles") ?? "https://tile.openstreetmap.org", "no-store")
    self.boats = (boats ?? address("/boats")).map { service($0) }
    self.weatherKey = weatherKey
    realm = base == nil && boats == nil ? nil : store.realm(of: "\(base ?? "") \(boats ?? "")")
  }
}
