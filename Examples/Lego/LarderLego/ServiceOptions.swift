import ArgumentParser
import ExampleProgram
// FoundationNetworking has the session's configuration.
import Foundation
import HTTPTypes
import Larder
import LarderHTTP
import LarderURLSession
import LegoCache
import Service
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A kind as an argument: `parts`, `part`, or the name of its namespace.
struct KindName: ExpressibleByArgument {
  var kind: EntityKind

  init?(argument: String) {
    guard
      let kind = EntityKind.allCases.first(where: {
        [$0.word, $0.singular, $0.namespace].contains(argument)
          || $0 == .sets && argument.hasPrefix("minifig")
      })
    else { return nil }
    self.kind = kind
  }

  static var allValueStrings: [String] { EntityKind.allCases.map(\.word) }
  static let list = allValueStrings.joined(separator: ", ")
}

extension EntityKind {
  var singular: String { self == .categories ? "category" : String(word.dropLast()) }
}

/// A preset of lifetimes as an argument.
enum LifetimesName: String, ExpressibleByArgument, CaseIterable {
  case `default`
  case longTerm = "long-term"
  case shortTerm = "short-term"
  case never

  var lifetimes: Lifetimes {
    switch self {
    case .default: .default
    case .longTerm: .longTerm
    case .shortTerm: .shortTerm
    case .never: Lifetimes(standard: EntityRule(.never))
    }
  }
}

/// A plan as an argument.
enum PlanName: String, ExpressibleByArgument, CaseIterable {
  case `default`, performance, storage
  case memoryOnly = "memory-only"
  case databaseOnly = "database-only"
  case disabled

  var plan: CachePlan {
    switch self {
    case .default: .default
    case .performance: .performance
    case .storage: .storage
    case .memoryOnly: .memoryOnly
    case .databaseOnly: .databaseOnly
    case .disabled: .disabled
    }
  }
}

/// The service and the user whose answers are meant.
struct RealmOptions: ParsableArguments {
  @Option(help: "The service's address.")
  var base = LegoClient.publicBase

  @Option(
    help: """
      The key that Rebrickable gives to each user. Default: the variable REBRICKABLE_KEY. Entities that were fetched with \
      a key are kept apart from those of other keys and from imported ones.
      """)
  var key: String?

  var credential: String? { key ?? ProcessInfo.processInfo.environment["REBRICKABLE_KEY"] }
  var realm: Realm { LegoClient.realm(base: base, credential: credential) }
}

/// The option `--limit`.
struct LimitOption: ParsableArguments {
  @Option(
    help: """
      The largest size of the store's file in MB. Default: an existing store keeps its limit; a new one gets 10, or none \
      from `import`.
      """)
  var limit: Int?

  var bytes: Int? {
    limit.map { megabytes in
      let (bytes, isTooMuch) = megabytes.multipliedReportingOverflow(by: 1_000_000)
      return isTooMuch ? (megabytes < 0 ? 0 : .max) : bytes
    }
  }

  func validate() throws {
    if let bytes, bytes < StoreLimits.smallestDisk {
      throw ValidationError("a limit of \(bytes / 1_000_000) MB is not possible: give 4 or more")
    }
  }
}

/// The options of commands that talk to the service.
struct ServiceOptions: ParsableArguments {
  @OptionGroup var place: Place
  @OptionGroup var realm: RealmOptions
  @OptionGroup var limit: LimitOption

  @Option(
    help: "Where entities are kept: \(PlanName.allCases.map(\.rawValue).joined(separator: ", ")).")
  var plan = PlanName.default

  @Option(help: "How long entities stay on disk: default, long-term, short-term or never.")
  var lifetimes = LifetimesName.longTerm

  @Option(
    help: "The longest wait for a byte, in seconds. The whole answer may take four times as long.")
  var timeout = 15

  func validate() throws {
    guard (1...86_400).contains(timeout) else {
      throw ValidationError("a timeout of \(timeout) seconds is not possible: give 1 to 86400")
    }
  }

  /// A client, and the counter of its requests.
  func client() throws -> (client: LegoClient, requests: CountingTransport) {
    var plan = plan.plan
    if plan.usesDisk { plan.disk = lifetimes.lifetimes }
    plan.diskLimit = limit.bytes
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = TimeInterval(timeout)
    let transport = CountingTransport(
      try place.recording.transport(
        over: URLSessionTransport(configuration: configuration), sample: "Recording"))
    var service = LegoClient.service(
      base: realm.base, credential: realm.credential, over: transport, log: place.log)
    service.timeout = .seconds(4 * Int64(timeout))
    do {
      let cache = try LegoCache(at: place.store.path, plan: plan, realm: realm.realm)
      return (LegoClient(cache, service: service), transport)
    } catch {
      throw Failure(opening: error)
    }
  }
}

/// Counts requests.
final class CountingTransport: HTTPTransport {
  private let transport: any HTTPTransport
  private let requests = Atomic(0)

  init(_ transport: any HTTPTransport) { self.transport = transport }

  var count: Int { requests.load(ordering: .relaxed) }

  func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    requests.add(1, ordering: .relaxed)
    return try await transport.send(request, body: body, interim: interim)
  }
}
