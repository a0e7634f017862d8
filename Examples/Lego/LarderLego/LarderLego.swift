public import ArgumentParser
import ExampleProgram
import Foundation
import Larder
public import LegoCache
import Service

@main
struct LarderLego: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "larder-lego",
    abstract: "Caches Rebrickable's data about Lego colors, parts and sets in a store.",
    discussion: """
      Exit codes: 0 done, 1 no such key, 2 usage, 3 the store cannot be opened, 4 the store or the service failed, \
      5 refused, 130 interrupted.
      """,
    version: exampleVersion,
    subcommands: [
      FetchEntity.self, ListEntities.self, RefreshLists.self,
    ])

  static func main() async {
    await Failure.run(Self.self, credential: "--key or REBRICKABLE_KEY")
  }
}

/// A kind as an argument: `parts`, `part`, or the name of its namespace.
extension EntityKind: ExpressibleByArgument {
  public init?(argument: String) {
    let kind = Self.allCases.first {
      [$0.word, $0.singular, $0.namespace].contains(argument)
        || $0 == .sets && argument.hasPrefix("minifig")
    }
    guard let kind else { return nil }
    self = kind
  }

  public static var allValueStrings: [String] { allCases.map(\.word) }
  static let list = allValueStrings.joined(separator: ", ")

  var singular: String { self == .categories ? "category" : String(word.dropLast()) }
}

/// The options of commands that talk to the service.
struct ServiceOptions: ParsableArguments {
  @OptionGroup var place: Place
  @Option(help: "The service's address.") var base = NonEmpty(LegoClient.publicBase)

  @Option(
    help: """
      The key that Rebrickable gives to each user. Default: the variable REBRICKABLE_KEY. Entities that were fetched with \
      a key are kept apart from those of other keys.
      """)
  var key: String?

  private var credential: String? {
    let text = (key ?? ProcessInfo.processInfo.environment["REBRICKABLE_KEY"] ?? "").trimmingBlanks
    return text.isEmpty ? nil : text
  }

  /// Calls `body` with a client and its cache, and closes the store.
  func open<Result>(_ body: (LegoClient, LegoCache) async throws -> Result) async throws -> Result {
    let client: LegoClient
    let isRecorded = place.recording.offline
    do {
      client = try LegoClient(
        at: place.store.path, base: isRecorded ? RecordingOption.address + "/api/v3" : base.text,
        credential: isRecorded ? nil : credential,
        over: try place.recording.transport(sample: "Recording"), log: place.log)
    } catch let error as LarderError {
      throw Failure(opening: error)
    }
    guard let cache = client.cache else { throw Failure(.usage, "this plan stores nothing") }
    let result = try await body(client, cache)
    try cache.larder.close()
    return result
  }
}
