import HTTPTypes
public import Larder
public import LarderHTTP
public import Service

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The services that the adapter talks to, behind one HTTP cache: its first level. The second keeps what was decoded.
public struct Services: Sendable {
  public let timetable: Service
  public let weather: Service
  /// Nil where nobody has said where it is.
  public let boats: Service?
  public let simulations: Service
  public let tiles: Service
  /// Goes with every request for weather; a secret, of which keys of the store hold a digest.
  let weatherKey: String

  /// - Parameter sleep: waits when a service says so; tests give something that does not.
  public init(
    at addresses: Addresses = Addresses(), over transport: any HTTPTransport, in store: Store,
    weatherKey: String = "",
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    var policy = HTTPCachePolicy()
    policy.timeout = .seconds(15)
    // What is stale is the second level's to serve, which says so.
    policy.whenDisconnected = .zero
    policy.secretParameters.insert("appid")
    let cache = HTTPCache(in: store.namespace(Shelf.http.name), over: transport, policy: policy)
    func service(_ base: String) -> Service {
      Service(at: base, over: cache, words: { Self.words(of: $0) }, sleep: sleep)
    }
    timetable = service(addresses.timetable)
    weather = service(addresses.weather)
    boats = addresses.boats.map(service)
    simulations = service(addresses.simulations)
    // Kept for ever in the second level, and so not in the first as well.
    tiles = Service(at: addresses.tiles, over: transport, sleep: sleep)
    self.weatherKey = weatherKey
  }

  /// Errors come as `{"errors": [{"message": ...}]}`, as `{"message": ...}` for the weather, or as plain text.
  static func words(of body: [UInt8]) -> String? {
    struct Errors: Decodable {
      struct Line: Decodable { var message: String }
      var errors: [Line]?
      var message: String?
    }
    let text = String(decoding: body, as: UTF8.self)
    guard text.hasPrefix("{") else {
      return text.isEmpty || text.hasPrefix("<") ? nil : String(text.prefix(200))
    }
    do {
      let said = try JSONDecoder().decode(Errors.self, from: Data(body))
      let lines = (said.errors ?? []).map(\.message) + (said.message.map { [$0] } ?? [])
      return lines.isEmpty ? nil : lines.map(\.trimmed).joined(separator: "; ")
    } catch {
      return nil
    }
  }
}

extension String {
  var trimmed: String {
    var text = self[...]
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
