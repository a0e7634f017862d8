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
    subcommands: [FetchEntity.self, ListEntities.self, RefreshLists.self])

  static func main() async { await Failure.run(Self.self, credential: "--key or REBRICKABLE_KEY") }
}

/// A kind as an argument: `parts`, or `part`.
extension EntityKind: ExpressibleByArgument {
  public init?(argument: String) {
    let isMinifig = argument == "minifig" || argument == "minifigs"
    let kind = Self.allCases.first { [$0.rawValue, $0.singular].contains(argument) }
    guard let kind = isMinifig ? .sets : kind else { return nil }
    self = kind
  }

  static let list = allCases.map(\.rawValue).joined(separator: ", ")
  var singular: String { self == .categories ? "category" : String(rawValue.dropLast()) }
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

  /// Calls `body` with a client and its cache, and closes the store.
  func open<Result>(_ body: (LegoClient, LegoCache) async throws -> Result) async throws -> Result {
    let key = (key ?? ProcessInfo.processInfo.environment["REBRICKABLE_KEY"] ?? "").trimmingBlanks
    let isRecorded = place.recording.offline
    let client: LegoClient
    do {
      client = try LegoClient(
        at: place.store.path, base: isRecorded ? RecordingOption.address + "/api/v3" : base.text,
        credential: isRecorded || key.isEmpty ? nil : key,
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

struct FetchEntity: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Gets entities from the store, or from the service if they are missing or expired.",
    discussion: "The key -1 looks like an option: put -- before it.")

  @Argument(help: "One of \(EntityKind.list); the singular will do.") var kind: EntityKind
  @Argument(help: "Numbers: 3001, 10294-1, fig-000018; of a partcolor 3001/4.")
  var keys: [NonEmpty]
  @OptionGroup var options: ServiceOptions
  @Flag(help: "Send a request even if the entity is stored.") var reload = false

  func run() async throws { try await run(kind.type) }

  private func run<Entity: LegoEntity>(_ type: Entity.Type) async throws {
    let store = options.place.store
    try await options.open { client, cache in
      var missing: [String] = []
      for key in keys.map(\.text) {
        let policy = reload ? RequestPolicy.reload : .standard
        guard let result = try await client.entity(type, key, policy: policy) else {
          missing.append(key)
          continue
        }
        if !store.json { try Output.write(JSONOutput.text(result.value, pretty: true)) }
        let name = "@" + cache.namespace(of: kind).name
        let looks = ["get \(name) \(key.larderWord)", "keys \(name) --limit 5"]
        try store.show(
          Sourced(result, of: key), closing: looks, ["\(kind.singular) \(key): \(result.words)"])
      }
      if missing.isEmpty { return }
      throw Failure(
        .noSuchKey, "there is no \(kind.singular) \(missing.joined(separator: ", "))",
        hint: options.place.recording.offline ? "the recording has only a few entities" : nil)
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
  @Argument(help: "The words to search for, or the number of the set or the part.")
  var text: NonEmpty
  @OptionGroup var options: ServiceOptions
  @Option(help: "The most rows, 1 to 1000.") var rows = 20

  func validate() throws { try rows.checkPage() }

  func run() async throws {
    switch subject {
    case .parts: try await show(.parts.searching(text.text)) { [$0.partNum, $0.name] }
    case .sets: try await show(.sets.searching(text.text), Self.columns)
    case .minifigs: try await show(.minifigs.searching(text.text), Self.columns)
    case .inventory:
      try await show(.inventory(of: text.text)) { item in
        let spare = item.isSpare == true ? " (spare)" : ""
        let name = "\(item.color.name) \(item.part.name)\(spare)"
        return ["\(item.quantity ?? 1) x", item.part.partNum, name]
      }
    case .colorsOf:
      try await show(.colors(of: text.text)) { pair in
        ["\(pair.colorID)", pair.colorName ?? "", pair.setCount.map { "\($0) sets" } ?? ""]
      }
    }
  }

  private static func columns(of set: ModelSet) -> [String] {
    [set.setNum, set.year.map { "\($0)" } ?? "", set.name]
  }

  private func show<Entity: LegoEntity>(
    _ list: LegoList<Entity>, _ columns: (Entity) -> [String]
  ) async throws {
    let isSearch = [.parts, .sets, .minifigs].contains(subject)
    try await options.open { client, _ in
      // A search is refused as a whole; a set or a part may be unknown.
      func page() async throws -> CacheResult<LegoPage<Entity>> {
        try await client.page(list.sized(rows))
      }
      let page = try await isSearch ? page() : Failure.orNoSuchKey(page)
      for reason in page.value.skipped ?? [] { Console.complain("left out: \(reason)") }
      let found = page.value.results
      let lines = found.map(columns).map { row in
        row.dropLast().map { $0.padded(to: 12) }.joined() + (row.last ?? "")
      }
      let all = page.value.count.map { " of \($0)" } ?? ""
      try options.place.store.show(
        Sourced(page, of: text.text), closing: ["namespaces"],
        lines + ["\(found.count)\(all), \(page.words)"])
    }
  }
}

struct RefreshLists: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refresh", abstract: "Stores whole lists of the service, page by page.",
    discussion: """
      Stored entities that a list no longer has are removed. If some cannot be read, nothing is removed, and the exit code \
      is 4. There are lists of colors, themes, categories, parts and sets (with the minifigs).
      """)

  @Argument(help: "Which: \(EntityKind.list).") var kinds: [EntityKind]
  @OptionGroup var options: ServiceOptions
  @Option(help: "Entities in a page, 1 to 1000.") var pageSize = 1000

  func validate() throws { try pageSize.checkPage() }

  func run() async throws {
    let (reports, looks) = try await options.open { client, cache in
      let line = ProgressLine.atTerminal
      defer { line?.clear() }
      var reports: [EntityKind: RefreshReport] = [:]
      for kind in kinds {
        reports[kind] = try await client.refresh(kind, pageSize: pageSize) { done, total in
          line?.advance(kind.rawValue, done: done, of: total)
        }
      }
      return (reports, kinds.map { "keys @\(cache.namespace(of: $0).name) --limit 5" })
    }
    var table = TextTable(["", "listed", "removed"])
    for kind in EntityKind.allCases {
      guard let report = reports[kind] else { continue }
      table.add([kind.rawValue, report.listed.grouped, report.removed.grouped])
    }
    try options.place.store.show(reports, closing: ["namespaces"] + looks, table.lines)
    let faults = reports.values.flatMap(\.faults)
    for fault in faults { Console.complain(fault) }
    if faults.isEmpty { return }
    throw Failure(
      .failed, "the lists cannot be read in full, and nothing was removed",
      hint: "what can be read is stored; a later refresh removes what the service no longer has")
  }
}

extension Int {
  fileprivate func checkPage() throws(ValidationError) {
    if !(1...1000).contains(self) { throw ValidationError("\(self) is not from 1 to 1000") }
  }
}
