import ArgumentParser
import ExampleProgram
import Larder
import LegoCache
import Service

struct ListEntities: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Searches by name, or lists the parts of a set or the colours of a part.",
    discussion: """
      list parts "brick 2 x"       parts, sets or minifigs with these words
      list inventory 10294-1       the parts of a set or a minifig, and how many of each
      list colors-of 3001          the colours of a part, and the number of sets with each
      """)

  enum Subject: String, ExpressibleByArgument, CaseIterable {
    case parts, sets, minifigs, inventory
    case colorsOf = "colors-of"
  }

  @Argument(help: "parts, sets, minifigs, inventory or colors-of.")
  var subject: Subject

  @Argument(help: "The words to search for, or the number of the set or the part.")
  var text: String

  @OptionGroup var options: ServiceOptions

  @Option(help: "The most rows, 1 to 1000.")
  var rows = 20

  @Flag(help: "Print the page as JSON.")
  var json = false

  func validate() throws {
    guard (1...1000).contains(rows) else {
      throw ValidationError("\(rows) rows are not possible: give 1 to 1000")
    }
  }

  func run() async throws {
    let (client, _) = try options.client()
    switch subject {
    case .parts: try await show(.parts.searching(text), by: client) { [$0.partNum, $0.name] }
    case .sets: try await show(.sets.searching(text), by: client, Self.columns)
    case .minifigs: try await show(.minifigs.searching(text), by: client, Self.columns)
    case .inventory:
      try await show(.inventory(of: text), by: client) { item in
        let spare = item.isSpare == true ? " (spare)" : ""
        return [
          "\(item.quantity ?? 1) x", item.part.partNum,
          "\(item.color.name) \(item.part.name)\(spare)",
        ]
      }
    case .colorsOf:
      try await show(.colors(of: text), by: client) { pair in
        ["\(pair.colorID)", pair.colorName ?? "", pair.setCount.map { "\($0) sets" } ?? ""]
      }
    }
  }

  private static func columns(of set: ModelSet) -> [String] {
    [set.setNum, set.year.map { "\($0)" } ?? "", set.name]
  }

  private struct Shown<Entity: LegoEntity>: Encodable {
    var source: CacheResult<Listing<Entity>>.Source
    /// In seconds.
    var age: Double
    var error: String?
    var count: Int
    var results: [Entity]
  }

  private func show<Entity: LegoEntity>(
    _ list: LegoList<Entity>, by client: LegoClient, _ columns: (Entity) -> [String]
  ) async throws {
    let page = try await client.page(list.sized(rows))
    try client.cache?.larder.close()
    let found = page.value.results
    if json {
      let shown = Shown(
        source: page.source, age: page.age / .seconds(1), error: page.error.map { "\($0)" },
        count: page.value.count, results: found)
      return print(try JSONOutput.text(shown))
    }
    for row in found.map(columns) {
      Console.show(row.dropLast().map { $0.padded(to: 12) }.joined() + (row.last ?? ""))
    }
    for reason in page.value.skipped ?? [] { Console.complain("left out: \(reason)") }
    Console.show("\(found.count) of \(page.value.count), \(page.words)")
    guard let cache = client.cache, cache.plan.usesDisk else { return }
    print(options.place.closing("keys @\(cache.realm.name(LegoCache.pagesName))", "namespaces"))
  }
}
