import ArgumentParser
import ExampleProgram
import Larder
import LegoCache
import Service

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

  func validate() throws {
    guard (1...1000).contains(rows) else {
      throw ValidationError("\(rows) rows are not possible: give 1 to 1000")
    }
  }

  func run() async throws {
    switch subject {
    case .parts: try await show(.parts.searching(text.text)) { [$0.partNum, $0.name] }
    case .sets: try await show(.sets.searching(text.text), Self.columns)
    case .minifigs: try await show(.minifigs.searching(text.text), Self.columns)
    case .inventory:
      try await show(.inventory(of: text.text)) { item in
        let spare = item.isSpare == true ? " (spare)" : ""
        return [
          "\(item.quantity ?? 1) x", item.part.partNum,
          "\(item.color.name) \(item.part.name)\(spare)",
        ]
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
    let (page, name) = try await options.open { client, cache in
      func page() async throws -> CacheResult<Listing<Entity>> {
        try await client.page(list.sized(rows))
      }
      // A search is refused as a whole; a set or a part may be unknown.
      let isSearch = [.parts, .sets, .minifigs].contains(subject)
      return (
        try await isSearch ? page() : Failure.orNoSuchKey(page), cache.name(LegoCache.pagesName)
      )
    }
    for reason in page.value.skipped ?? [] { Console.complain("left out: \(reason)") }
    let found = page.value.results
    try options.place.store.show(
      Sourced(page, of: text.text),
      closing: ["keys @\(name)", "namespaces"],
      found.map(columns).map { row in
        row.dropLast().map { $0.padded(to: 12) }.joined() + (row.last ?? "")
      } + ["\(found.count)\(page.value.count.map { " of \($0)" } ?? ""), \(page.words)"])
  }
}
