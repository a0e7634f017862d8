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
    switch subject {
    case .parts: try await show(.parts.searching(text)) { [$0.partNum, $0.name] }
    case .sets: try await show(.sets.searching(text), Self.columns)
    case .minifigs: try await show(.minifigs.searching(text), Self.columns)
    case .inventory:
      try await show(.inventory(of: text)) { item in
        let spare = item.isSpare == true ? " (spare)" : ""
        return [
          "\(item.quantity ?? 1) x", item.part.partNum,
          "\(item.color.name) \(item.part.name)\(spare)",
        ]
      }
    case .colorsOf:
      try await show(.colors(of: text)) { pair in
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
    let (page, realm) = try await options.open { client, cache in
      (try await client.page(list.sized(rows)), cache.realm)
    }
    if json { return print(try JSONOutput.text(Shown(text, page))) }
    let found = page.value.results
    for row in found.map(columns) {
      Console.show(row.dropLast().map { $0.padded(to: 12) }.joined() + (row.last ?? ""))
    }
    for reason in page.value.skipped ?? [] { Console.complain("left out: \(reason)") }
    Console.show("\(found.count) of \(page.value.count), \(page.words)")
    print(options.place.closing("keys @\(realm.name(LegoCache.pagesName))", "namespaces"))
  }
}
