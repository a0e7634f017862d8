import ArgumentParser
import ExampleProgram
import Larder
import LegoCache

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

struct ShowEntity: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Prints one entity as JSON.",
    discussion: """
      At a terminal it also says, on standard error, when it was stored and when it expires. The key -1 looks like an \
      option: put -- before it.
      """)

  @Argument(help: "One of \(EntityKind.allCases.map(\.word).joined(separator: ", ")).")
  var kind: KindName

  @Argument(
    help: "A number as the maker writes it: 3001, 10294-1, fig-000018; of partcolors 3001/4.")
  var key: String

  @Option(help: "The store.")
  var store: String

  @OptionGroup var realm: RealmOptions

  func run() throws {
    switch kind.kind {
    case .colors: try show(Color.self)
    case .themes: try show(Theme.self)
    case .categories: try show(PartCategory.self)
    case .parts: try show(Part.self)
    case .sets: try show(ModelSet.self)
    case .elements: try show(Element.self)
    case .partColors: try show(PartColor.self)
    }
  }

  private func show<Entity: LegoEntity>(_ type: Entity.Type) throws {
    var options = Store.Options()
    options.create = false
    options.readOnly = true
    let store = try Store.opened(at: store, options: options)
    // The preset makes no difference to what is stored already, as long as it switches nothing off.
    guard let cache = LegoCache(store, realm: realm.realm).entities(type) else { return }
    guard let entity = try cache.strictValue(for: key) else { throw try missing(cache) }
    if Console.isWatched, let entry = try cache.entry(for: key) {
      let end = entry.expires.map { "expires \($0)" } ?? "never expires"
      Console.complain("stored \(entry.written), \(end), \(entry.size) bytes")
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    print(String(decoding: try encoder.encode(entity), as: UTF8.self))
  }

  private func missing<Entity>(_ cache: Cache<Entity>) throws -> Failure {
    let place = "\(key) in \(kind.kind.word)"
    if let entry = try cache.entry(for: key), let expires = entry.expires {
      return Failure(
        .noSuchKey, "\(place) expired \(expires)", hint: "import a folder that has it again")
    }
    return Failure(
      .noSuchKey, "there is no \(place)",
      hint:
        "larder \(store.shellWord) -e 'keys @\(realm.realm.name(kind.kind.namespace)) --limit 5' lists some keys"
    )
  }
}
