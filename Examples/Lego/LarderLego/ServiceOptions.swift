import ArgumentParser
import ExampleProgram
// For its networking; the rest needs less.
import Foundation
import Larder
import LarderHTTP
import LarderURLSession
import LegoCache
import Service

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Whose answers are meant.
struct RealmOptions: ParsableArguments {
  @Option(help: "The service's address.")
  var base = LegoClient.publicBase

  @Option(
    help: """
      The key that Rebrickable gives to each user; without it that of the variable REBRICKABLE_KEY. What was fetched with \
      a key is kept apart from what others fetched, and from what was imported.
      """)
  var key: String?

  var credential: String? { key ?? ProcessInfo.processInfo.environment["REBRICKABLE_KEY"] }
  var realm: Realm { LegoClient.realm(base: base, credential: credential) }
}

/// What people say a file may grow to, in MB.
enum DiskLimit {
  static let megabyte = 1_000_000

  static func validate(_ limit: Int?) throws {
    if let limit, limit < StoreLimits.smallestDisk / megabyte {
      throw ValidationError("a limit of \(limit) MB is not possible: say 4 or more")
    }
  }
}

/// How the service is reached, and what of its answers is kept.
struct ServiceOptions: ParsableArguments {
  @Option(help: "The store; made if there is none.")
  var store = "lego.larder"

  @OptionGroup var realm: RealmOptions

  @OptionGroup var answers: Answers

  @Option(help: "What is kept where: \(PlanName.allCases.map(\.rawValue).joined(separator: ", ")).")
  var plan = PlanName.default

  @Option(help: "How long entities stay on disk: default, long-term, short-term or never.")
  var lifetimes = LifetimesName.longTerm

  @Option(
    help: """
      What the store's file may grow to, in MB; a new store gets 10, and one that is there keeps what it has.
      """)
  var limit: Int?

  @Option(help: "How many seconds the service may take to answer.")
  var timeout = 15

  func validate() throws {
    try DiskLimit.validate(limit)
    if timeout < 1 { throw ValidationError("a service needs a second at least") }
  }

  /// A client, and the count of what it asks.
  func client() throws -> (client: LegoClient, requests: CountedTransport) {
    var plan = plan.plan
    if plan.usesDisk { plan.disk = lifetimes.lifetimes }
    let transport = CountedTransport(try transport())
    let service = LegoClient.service(
      base: realm.base, credential: realm.credential, over: transport)
    return (LegoClient(try manager(plan), service: service), transport)
  }

  private func manager(_ plan: CachePlan) throws -> LegoManager {
    var plan = plan
    if let limit { plan.diskLimit = limit * DiskLimit.megabyte }
    if plan.usesDisk, limit == nil, FileManager.default.fileExists(atPath: store) {
      let store = try Store.opened(at: store)
      return LegoManager(store, plan: plan, realm: realm.realm)
    }
    do {
      return try LegoManager(at: store, plan: plan, realm: realm.realm)
    } catch {
      throw Failure(.cannotOpen, error.message, hint: error.hint)
    }
  }

  private func transport() throws -> any HTTPTransport {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = TimeInterval(timeout)
    return try answers.transport(
      over: URLSessionTransport(configuration: configuration), sample: "Recording")
  }
}
