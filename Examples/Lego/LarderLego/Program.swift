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
    version: Store.version, subcommands: [FetchEntity.self, ListEntities.self])

  static func main() async { await Failure.run(Self.self, credential: "--key or REBRICKABLE_KEY") }
}

/// A kind as an argument, in the plural or singular: `parts` or `part`. A word that begins with `minifig` means `sets`.
extension EntityKind: ExpressibleByArgument {
  public init?(argument: String) {
    let name = argument.hasPrefix("minifig") ? "sets" : argument
    guard let kind = Self.allCases.first(where: { [$0.rawValue, $0.singular].contains(name) })
    else { return nil }
    self = kind
  }

  static let list = allCases.map(\.rawValue).joined(separator: ", ")
  var singular: String { self == .categories ? "category" : String(rawValue.dropLast()) }
}

struct ServiceOptions: ParsableArguments {
  @OptionGroup var place: Place
  @Option(help: "The service's address.") var base = LegoClient.publicBase
  @Option(
    help: """
      The key that Rebrickable gives to each user. Default: the variable REBRICKABLE_KEY. Entities that were fetched with \
      a key are kept apart from those of other keys.
      """)
  var key: String?

  func open<Result>(_ body: (LegoClient) async throws -> Result) async throws -> Result {
    let key = (key ?? ProcessInfo.processInfo.environment["REBRICKABLE_KEY"] ?? "").trimmingBlanks
    return try await place.open { store, transport in
      let client = try LegoClient(
        in: store, base: place.offline ? Place.recording + "/api/v3" : base,
        credential: place.offline || key.isEmpty ? nil : key, over: transport, log: place.log)
      return try await body(client)
    }
  }
}

struct FetchEntity: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Gets entities from the store, or from the service if they are missing or expired.",
    discussion: "The key -1 looks like an option: put -- before it.")

  @Argument(help: "One of \(EntityKind.list); the singular will do.") var kind: EntityKind
  @Argument(help: "Numbers: 3001, 10294-1, fig-000018; of a partcolor 3001/4.") var keys: [String]
  @OptionGroup var options: ServiceOptions
  @Flag(help: "Send a request even if the entity is stored.") var reload = false

  func run() async throws { try await run(kind.type) }

  private func run<Entity: LegoEntity>(_ type: Entity.Type) async throws {
    try await options.open { client in
      for key in keys {
        let found = try await client.entity(type, key, policy: reload ? .reload : .standard)
        guard let found else { throw Failure(.noSuchKey, "there is no \(kind.singular) \(key)") }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        try Output.write(String(decoding: try encoder.encode(found.value), as: UTF8.self))
        let name = "@" + client.namespace(of: kind).name
        try options.place.show(
          ["\(kind.singular) \(key): \(found.words)"],
          closing: ["get \(name) \(key.larderWord)", "keys \(name) --limit 5"])
      }
    }
  }
}

struct ListEntities: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Searches by name, or lists the parts of a set or the colors of a part.",
    discussion: """
      list parts "brick 2 x"       parts, sets or minifigs with these words
      list inventory 10294-1       the parts of a set or a minifig, and how many of each
      list colors-of 3001          the colors of a part, and the number of sets with each
      """)

  enum Subject: String, ExpressibleByArgument, CaseIterable {
    case parts, sets, minifigs, inventory
    case colorsOf = "colors-of"
  }

  @Argument(help: "parts, sets, minifigs, inventory or colors-of.") var subject: Subject
  @Argument(help: "The words to search for, or the number of the set or the part.") var text: String
  @OptionGroup var options: ServiceOptions

  func run() async throws {
    switch subject {
    case .parts: try await show(.parts.searching(text)) { [$0.partNum, $0.name] }
    case .sets: try await show(.sets.searching(text)) { [$0.setNum, $0.name] }
    case .minifigs: try await show(.minifigs.searching(text)) { [$0.setNum, $0.name] }
    case .inventory:
      try await show(.inventory(of: text)) { item in
        let spare = item.isSpare == true ? " (spare)" : ""
        let name = "\(item.color.name) \(item.part.name)\(spare)"
        return ["\(item.quantity ?? 1) x", item.part.partNum, name]
      }
    case .colorsOf:
      try await show(.colors(of: text)) { pair in
        ["\(pair.colorID)", pair.colorName ?? "", pair.setCount.map { "\($0) sets" } ?? ""]
      }
    }
  }

  private func show<Entity: LegoEntity>(
    _ list: LegoList<Entity>, _ columns: (Entity) -> [String]
  ) async throws {
    try await options.open { client in
      let page = try await Failure.orNoSuchKey { try await client.page(list.sized(20)) }
      for reason in page.value.skipped { Console.complain("left out: \(reason)") }
      let found = page.value.results
      let lines = found.map(columns).map { row in
        row.dropLast().map { $0.padded(to: 12) }.joined() + (row.last ?? "")
      }
      let all = page.value.count.map { " of \($0)" } ?? ""
      try options.place.show(
        lines + ["\(found.count)\(all), \(page.words)"], closing: ["namespaces"])
    }
  }
}
