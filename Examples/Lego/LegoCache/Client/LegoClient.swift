import HTTPTypes
public import Larder
public import LarderHTTP
public import Service

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A client of Rebrickable's API, version 3, that keeps what it was told for as long as its plan says.
///
///     let lego = try LegoClient(at: "lego.larder", credential: key, over: URLSessionTransport())
///     let red = try await lego.color(4)
///
/// However many tasks ask for what is not there, one request is made. Where the service cannot be reached, answers with an
/// error of its own (5xx), or wants to be asked less often, what is past its freshness is given, with
/// ``CacheResult/Source/stale`` and the error, if the kind's rule says so; a plan that keeps nothing on disk gives what is in memory.
public struct LegoClient: Sendable {
  public static let publicBase = "https://rebrickable.com/api/v3"

  public let service: Service
  public let manager: LegoManager

  /// How long it is known that there is no such thing.
  static let absence = Duration.minutes(10)

  /// Opens what the plan needs at `path`.
  ///
  /// - Parameters:
  ///   - credential: the key that Rebrickable gives to each user; nil asks without.
  ///   - transport: what carries requests; it has to give up by itself on a service that does not answer.
  public init(
    at path: String, plan: CachePlan = .default, base: String = LegoClient.publicBase,
    credential: String?, over transport: any HTTPTransport, options: Store.Options = Store.Options()
  ) throws(LarderError) {
    self.init(
      try LegoManager(
        at: path, plan: plan, realm: Self.realm(base: base, credential: credential),
        options: options),
      service: Self.service(base: base, credential: credential, over: transport))
  }

  public init(_ manager: LegoManager, service: Service) {
    self.manager = manager
    self.service = service
  }

  /// Rebrickable's own answers to nobody in particular are what everybody can download.
  public static func realm(base: String, credential: String?) -> Realm {
    base == publicBase && credential == nil
      ? .open : Realm(base: base, credential: credential ?? "")
  }

  /// The service as Rebrickable speaks: `Authorization: key ...`, and errors as `{"detail": "..."}`.
  public static func service(
    base: String, credential: String?, over transport: any HTTPTransport,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) -> Service {
    var fields: HTTPFields = [.accept: "application/json"]
    if let credential { fields[.authorization] = "key " + credential }
    return Service(
      at: base, over: transport, fields: fields, words: { Refusal($0)?.detail },
      wait: { Refusal($0)?.wait }, sleep: sleep)
  }
}

/// The body of an error.
private struct Refusal: Decodable {
  var detail: String

  /// Nil where there is none: some errors have no body, and those of a proxy are pages.
  init?(_ body: [UInt8]) {
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(body))
    } catch {
      return nil
    }
  }

  /// "Request was throttled. Expected available in 2 seconds."
  var wait: Duration? {
    guard let phrase = detail.firstRange(of: "available in ") else { return nil }
    return Int(detail[phrase.upperBound...].prefix { $0.isWholeNumber }).map { .seconds($0) }
  }
}

extension ServiceError {
  /// Whether the service knows well what was asked and refuses it; what was kept from before is no answer then.
  var isRefusal: Bool {
    if case .refused(let status, _) = self { (400..<500).contains(status) } else { false }
  }
}
