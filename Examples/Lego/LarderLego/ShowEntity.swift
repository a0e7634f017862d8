import ArgumentParser
import ExampleProgram
import Larder
import LegoCache
import Service

struct ShowEntity: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Prints a stored entity as JSON.",
    discussion: """
      At a terminal it also prints, on standard error, when it was stored and when it expires. The key -1 looks like an \
      option: put -- before it.
      """)

  @Argument(help: "One of \(KindName.list).")
  var kind: KindName

  @Argument(
    help: "A number as the maker writes it: 3001, 10294-1, fig-000018; of partcolors 3001/4.")
  var key: String

  @OptionGroup var store: StoreOption
  @OptionGroup var realm: RealmOptions

  func run() throws { try show(kind.kind.type) }

  private func show<Entity: LegoEntity>(_ type: Entity.Type) throws {
    var options = Store.Options()
    options.create = false
    options.readOnly = true
    let store = try store.open(options)
    // Any preset finds stored entities, as long as it does not switch the kind off.
    guard let cache = LegoCache(store, realm: realm.realm).entities(type) else { return }
    guard let entity = try cache.strictValue(for: key) else { throw try missing(cache) }
    if Console.isTerminal, let entry = try cache.entry(for: key) {
      let end = entry.expires.map { "expires \($0)" } ?? "never expires"
      Console.complain("stored \(entry.written), \(end), \(entry.size) bytes")
    }
    print(try JSONOutput.text(entity, pretty: true))
  }

  private func missing<Entity>(_ cache: Cache<Entity>) throws -> Failure {
    let place = "\(key) in \(kind.kind.word)"
    if let entry = try cache.entry(for: key), let expires = entry.expires {
      return Failure(
        .noSuchKey, "\(place) expired \(expires)", hint: "fetch it, or import a folder that has it")
    }
    return Failure(
      .noSuchKey, "there is no \(place)",
      hint:
        "larder \(store.path.shellWord) -e 'keys @\(realm.realm.name(kind.kind.namespace)) --limit 5' lists some keys"
    )
  }
}
